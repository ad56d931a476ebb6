import { describe, expect, test } from "vitest";
import { isAlive, waitFor, waitGone } from "../support/processes.ts";
import {
  driverPid,
  DRIVERS,
  eventsOf,
  fromSource,
  nodePath,
  pathOf,
  rawDriver,
  skipReason,
  start,
  type Started,
  startCli,
} from "./support/cli.ts";

const TIMEOUT = 30_000;
const COUNT = ["run", "--json", "--operation", "count", "--"];

async function seen(started: Started, text: string): Promise<void> {
  expect(await waitFor(() => started.text().includes(text), 15_000)).toBe(true);
}

describe.skipIf(nodePath === undefined)(`sluice run, stopped${skipReason}`, () => {
  test.each([
    ["SIGINT", 130, DRIVERS.typescript],
    ["SIGINT", 130, DRIVERS.python],
    ["SIGTERM", 143, DRIVERS.python],
    ["SIGHUP", 129, DRIVERS.python],
  ] as const)(
    "%s cancels, ends the driver and exits %i",
    { timeout: TIMEOUT },
    async (signal, code, command) => {
      const started = startCli(...COUNT, ...command);
      await seen(started, '"sequence":3');
      const pid = driverPid(started.text());
      expect(isAlive(pid)).toBe(true);
      started.signal(signal);
      const { stdout, stderr, ...ended } = await started.finished;
      expect(ended).toStrictEqual({ code, signal: null });
      expect(stderr).toBe(`sluice: ${signal}: ending the driver; once more to kill it\n`);
      expect(eventsOf(stdout).slice(-2)).toMatchObject([
        { type: "completed", status: "cancelled" },
        { type: "end", stopped: signal, exit: { code: 0 }, rungs: ["shutdown", "stdin"] },
      ]);
      expect(isAlive(pid)).toBe(false);
    },
  );

  test("a second SIGINT kills a driver that heeds nothing", { timeout: TIMEOUT }, async () => {
    const started = startCli("run", "--json", "--operation", "act", "--", ...rawDriver("stubborn"));
    await seen(started, '"prepared"');
    const pid = driverPid(started.text());
    started.signal("SIGINT");
    let stderr = "";
    started.child.stderr?.on("data", (text: string) => (stderr += text));
    expect(await waitFor(() => stderr.includes("once more"), 5_000)).toBe(true);
    const asked = performance.now();
    started.signal("SIGINT");
    const { code, stdout } = await started.finished;
    expect(code).toBe(130);
    // The cancel alone has five seconds otherwise.
    expect(performance.now() - asked).toBeLessThan(4_000);
    expect(eventsOf(stdout).at(-1)).toMatchObject({ exit: { code: null, signal: "SIGKILL" } });
    expect(isAlive(pid)).toBe(false);
  });

  test("SIGINT ends a driver that does not say hello", { timeout: TIMEOUT }, async () => {
    const marker = `mute-${process.pid}-${Date.now()}`;
    const program = `console.error(process.pid, "${marker}"); setInterval(() => {}, 1000)`;
    const started = startCli("run", "--json", "--", nodePath ?? "", "-e", program);
    let stderr = "";
    started.child.stderr?.on("data", (text: string) => (stderr += text));
    expect(await waitFor(() => stderr.includes(marker), 10_000)).toBe(true);
    const pid = Number(/\[driver\] (\d+) mute/.exec(stderr)?.[1]);
    expect(isAlive(pid)).toBe(true);
    started.signal("SIGINT");
    const { code, stdout } = await started.finished;
    expect(code).toBe(130);
    expect(eventsOf(stdout)).toMatchObject([{ type: "end", ok: false, stopped: "SIGINT" }]);
    expect(isAlive(pid)).toBe(false);
  });

  test.each(Object.entries(DRIVERS))(
    "an stdout that is closed early ends it quietly: %s",
    { timeout: TIMEOUT },
    async (_name, command) => {
      const started = startCli(...COUNT, ...command);
      await seen(started, '"sequence":3');
      const pid = driverPid(started.text());
      started.child.stdout?.destroy();
      const { code, stderr } = await started.finished;
      expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" });
      expect(await waitGone(pid)).toBe(true);
    },
  );

  test.skipIf(process.platform === "win32")(
    "`| head -1` gets one line and leaves no process",
    { timeout: TIMEOUT },
    async () => {
      const command = fromSource("adapters/cli/main.ts", ...COUNT, ...DRIVERS.python);
      const piped = start(["sh", "-c", '"$@" | head -1', "sh", ...command]);
      const { stdout, stderr } = await piped.finished;
      expect(stderr).toBe("");
      expect(eventsOf(stdout)).toMatchObject([{ type: "identity" }]);
      expect(await waitGone(driverPid(stdout))).toBe(true);
    },
  );

  test("a killed sluice takes the driver along", { timeout: TIMEOUT }, async () => {
    const started = startCli(...COUNT, "python3", pathOf("examples/driver.py"));
    await seen(started, '"sequence":3');
    const pid = driverPid(started.text());
    started.signal("SIGKILL");
    await started.finished;
    expect(await waitGone(pid, 5_000)).toBe(true);
  });
});
