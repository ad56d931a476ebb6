import { expect, onTestFinished } from "vitest";
import type { Driver, HostChildOptions } from "../../../lib/driver/mod.ts";
import { hostChild } from "../../../lib/driver/mod.ts";
import type { ChildHandle, ExitStatus, KillSignal } from "../../../lib/process/child-handle.ts";
import { duplexPair } from "../../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { helloResult, PLAN } from "./frames.ts";
import { ScriptedDriver, settle, settled } from "./session.ts";

/** A child process on paper: its script, its stderr, its end, and what was done to it. */
export interface PaperChild {
  readonly child: ChildHandle;
  readonly other: ScriptedDriver;
  readonly clock: VirtualClock;
  readonly signals: KillSignal[];
  /** Writes to its stderr. */
  readonly stderr: (text: string) => void;
  /** Ends it; its stdout ends too unless somebody else holds it. */
  readonly exit: (status: Partial<ExitStatus>, stdoutHeld?: boolean) => Promise<void>;
}

/** Makes a child that ends at one of these signals, or only when told. */
export function paperChild(endsOn: readonly KillSignal[] = ["SIGKILL"]): PaperChild {
  const [mine, theirs] = duplexPair();
  const [err, errIn] = duplexPair();
  const errors = errIn.writable.getWriter();
  errors.closed.catch(() => {});
  const exited = Promise.withResolvers<ExitStatus>();
  const other = new ScriptedDriver(theirs);
  const signals: KillSignal[] = [];
  let alive = true;
  const exit = async (status: Partial<ExitStatus>, stdoutHeld = false): Promise<void> => {
    if (!alive) return;
    alive = false;
    exited.resolve({ code: null, signal: null, ...status });
    await errors.close().catch(() => {});
    if (!stdoutHeld) await other.hangUp();
  };
  const child: ChildHandle = {
    pid: 4711,
    readable: mine.readable,
    writable: mine.writable,
    stderr: err.readable,
    exited: exited.promise,
    kill(signal) {
      if (!alive) return false;
      signals.push(signal);
      if (endsOn.includes(signal)) void exit({ signal });
      return true;
    },
    release() {},
  };
  const stderr = (text: string): void =>
    void errors.write(new TextEncoder().encode(text)).catch(() => {});
  return { child, other, clock: new VirtualClock(), signals, stderr, exit };
}

/** Hosts a child on paper; when the test ends it must be gone and no timer left. */
export function host(paper: PaperChild, options: HostChildOptions = {}): Promise<Driver> {
  const starting = hostChild(paper.child, { clock: paper.clock, ...options });
  starting.catch(() => {});
  onTestFinished(async () => {
    await paper.exit({ code: 0 });
    await settle();
    paper.clock.advance(20_000);
    await settle();
    const driver = await starting.catch(() => undefined);
    expect(driver === undefined || (await settled(driver.ended))).toBe(true);
    expect(paper.clock.pending).toBe(0);
  });
  return starting;
}

/** Hosts a child on paper and prepares it. */
export async function hosted(paper: PaperChild, options: HostChildOptions = {}): Promise<Driver> {
  const starting = host(paper, options);
  await paper.other.answer("driver.hello", helloResult());
  const driver = await starting;
  const preparing = driver.prepare(PLAN);
  await paper.other.answer("driver.prepare", { accepted_permissions: [] });
  await preparing;
  return driver;
}
