import { expect, onTestFinished, test } from "vitest";
import { nodeClock } from "../../../adapters/node/node-clock.ts";
import { boundedAfterExit } from "../../../lib/process/drain-after-exit.ts";
import type { PipeCut } from "../../../lib/process/drain-after-exit.ts";
import { StderrTail } from "../../../lib/process/stderr-tail.ts";
import { isAlive, waitFor } from "../../support/processes.ts";
import { runtime } from "../../support/runtime-name.ts";
import { encode, end, firstLine, linuxOnly, start, text } from "./start.ts";

linuxOnly();

const MIB = 1024 * 1024;
const broken = { code: "broken_pipe" };

test("a write to a child that has exited rejects with broken_pipe and ends nothing else (row 8)", async () => {
  const child = await start(["true"]);
  const writer = child.writable.getWriter();
  await child.exited;
  const writes = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) await writer.write(encode("x"));
  };
  await expect(writes()).rejects.toMatchObject(broken);
  await expect(writer.write(encode("x"))).rejects.toMatchObject(broken);
  await expect(writer.closed).rejects.toMatchObject(broken);
});

test.skipIf(runtime === "bun")(
  "a write to a child that closed its stdin and lives rejects with broken_pipe (row 8; Bun swallows it, row 36)",
  async () => {
    const child = await start(["sh", "-c", "exec 0<&-; echo closed; exec sleep 30"]);
    expect(await firstLine(child.readable)).toBe("closed");
    const writer = child.writable.getWriter();
    await expect(writer.write(encode("x"))).rejects.toMatchObject({
      ...broken,
      cause: { code: "EPIPE" },
    });
    expect(isAlive(child.pid)).toBe(true);
  },
);

test("a write of 8 MiB rejects when the child stops reading and exits (row 11)", async () => {
  const child = await start(["sh", "-c", "head -c 1000 >/dev/null; sleep 0.2; exit 0"]);
  const writer = child.writable.getWriter();
  const write = writer.write(new Uint8Array(8 * MIB));
  await expect(write).rejects.toMatchObject(broken);
  expect(await child.exited).toEqual({ code: 0, signal: null });
});

test("a write resolves only once the child has read enough of it", async () => {
  const child = await start(["sh", "-c", "read go; cat | wc -c"]);
  const writer = child.writable.getWriter();
  let written = false;
  await writer.write(encode("go\n"));
  const write = writer.write(new Uint8Array(2 * MIB)).then(() => (written = true));
  await write;
  await writer.close();
  expect(written).toBe(true);
  expect((await text(child.readable)).trim()).toBe(String(2 * MIB));
});

test("a write to a child that does not read stays pending", async () => {
  const child = await start(["sleep", "30"]);
  let settled = false;
  const write = child.writable
    .getWriter()
    .write(new Uint8Array(4 * MIB))
    .finally(() => (settled = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(settled).toBe(false);
  await Promise.all([
    expect(write).rejects.toMatchObject(broken),
    end(child, { startAt: "SIGKILL" }),
  ]);
});

test("closing stdin is the end of input for the child", async () => {
  const child = await start(["sh", "-c", "cat; echo eof"]);
  await child.writable.close();
  expect(await text(child.readable)).toBe("eof\n");
});

test("9 MB on stderr block no child while StderrTail reads (row 6)", async () => {
  const script =
    "import sys; sys.stderr.write('x' * 9_000_000); sys.stderr.write('\\nlast\\n'); print('answered')";
  const child = await start(["python3", "-c", script]);
  const tail = new StderrTail(child.stderr);
  expect(await text(child.readable)).toBe("answered\n");
  await tail.done;
  expect(tail.bytesSeen).toBe(9_000_006);
  expect(tail.text()).toBe("last\n");
});

test("a child that floods a host that does not read is blocked within 1 MiB", async () => {
  const flood =
    "import os, sys\nos.set_blocking(1, True)\nn = 0\nwhile True:\n n += os.write(1, b'x' * 4096)\n sys.stderr.write(f'{n}\\n'); sys.stderr.flush()";

  const child = await start(["python3", "-u", "-c", flood]);
  let last = "";
  const tail = new StderrTail(child.stderr, {
    tee: (chunk) => (last = new TextDecoder().decode(chunk)),
  });
  let before = -1;
  const still = (): boolean => {
    const same = before === tail.bytesSeen && before > 0;
    before = tail.bytesSeen;
    return same;
  };
  // Nothing new on stderr for several looks: it waits for us.
  let looks = 0;
  expect(await waitFor(() => (looks = still() ? looks + 1 : 0) > 20, 10_000)).toBe(true);
  const written = Number(last.trim().split("\n").at(-1));
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThanOrEqual(MIB);
  const reader = child.readable.getReader();
  let read = 0;
  while (read <= written) read += (await reader.read()).value!.length;
  expect(await waitFor(() => tail.bytesSeen > before)).toBe(true);
});

test("cancelling stdout closes it for the child", async () => {
  const child = await start(["sh", "-c", "while echo x; do :; done; exit 9"]);
  await child.readable.cancel();
  const status = await child.exited;
  expect(status.code === 9 || status.signal === "SIGPIPE").toBe(true);
});

test("a grandchild that holds stdout does not hang the reader (row 3)", async () => {
  const child = await start(["sh", "-c", "sleep 30 & echo last"]);
  const cuts: PipeCut[] = [];
  const options = {
    clock: nodeClock,
    grace: 100,
    bytes: MIB,
    onCut: (cut: PipeCut) => void cuts.push(cut),
  };
  expect(await text(boundedAfterExit(child.readable, child.exited, options))).toBe("last\n");
  expect(cuts).toEqual([{ reason: "idle", bytes: expect.any(Number) }]);
  expect((await end(child)).rungs).toEqual(["sweep"]);
});

test("a grandchild that keeps writing is cut at the bound", async () => {
  const child = await start(["sh", "-c", "yes & sleep 0.1"]);
  const cuts: PipeCut[] = [];
  await child.exited;
  const options = {
    clock: nodeClock,
    grace: 1000,
    bytes: 3 * MIB,
    onCut: (cut: PipeCut) => void cuts.push(cut),
  };
  const all = await text(boundedAfterExit(child.readable, child.exited, options));
  expect(all.length).toBe(3 * MIB);
  expect(cuts).toEqual([{ reason: "bytes", bytes: 3 * MIB }]);
});

test("release() ends reads under way with broken_pipe", async () => {
  const child = await start(["sleep", "30"]);
  const read = child.readable.getReader().read();
  child.release();
  await expect(read).rejects.toMatchObject(broken);
});

test.skipIf(runtime !== "deno")(
  "a child can open /dev/stderr by name (row 31; Node and Bun give sockets)",
  async () => {
    const child = await start(["sh", "-c", "echo named > /dev/stderr"]);
    expect(await text(child.stderr)).toBe("named\n");
  },
);

test("a thousand writes and reads leave no listener behind", async () => {
  const warnings: string[] = [];
  const warn = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", warn);
  onTestFinished(() => void process.off("warning", warn));
  const child = await start(["cat"]);
  const writer = child.writable.getWriter();
  const reader = child.readable.getReader();
  for (let round = 0; round < 1000; round += 1) {
    await writer.write(encode("x"));
    expect((await reader.read()).value).toEqual(encode("x"));
  }
  await writer.close();
  expect((await reader.read()).done).toBe(true);
  expect(warnings).toEqual([]);
});
