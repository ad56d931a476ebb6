import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { setImmediate as turn } from "node:timers/promises";
import { concat } from "../../lib/bytes/concat.ts";
import { CompanionHost, type DataStream } from "../../lib/driver/companion/mod.ts";
import { connectDriver, serveControl } from "../../lib/driver/mod.ts";
import type { Driver, Invocation, Observation, Run } from "../../lib/driver/mod.ts";
import { isSluiceError } from "../../lib/errors.ts";
import { ObservationQueue } from "../../lib/driver/session/observation-queue.ts";
import { sha256Digest } from "../../lib/json/mod.ts";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { duplexPair } from "../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";
import { pattern } from "./support/companion.ts";
import {
  type DataAct,
  isLeftAlone,
  isOrdinary,
  type Program,
  type Reading,
  world,
  type World,
} from "./support/companion-model.ts";
import { IDENTITY, PLAN } from "./support/frames.ts";
import { range } from "./support/session.ts";

const LIMITS = {
  runQueueCount: 8,
  aheadCount: 60,
  cancelDeadline: 100,
  drainTimeout: 200,
  dataTimeout: 150,
  stallTimeout: 200,
  responseGrace: 50,
  exitGrace: 50,
  shutdownTimeout: 100,
  stdinTimeout: 100,
  handlerGrace: 50,
};
/** More than the programs' own sleeps and a stall for each of their streams. */
const LONG = 9000;
/** More than the time limits of `close()` together. */
const CLOSING = 1000;
const MOST_RUNS = 300;
/** More of them by hand: `SLUICE_PROGRAMS=12000`, with `SLUICE_SEED` to see one again. */
const RUNS = Number(process.env["SLUICE_PROGRAMS"] ?? MOST_RUNS);
const SEED = Number(process.env["SLUICE_SEED"] ?? 0);
const MOST_IN_CHUNK = 40;
/** No program makes more. */
const MOST_OBSERVATIONS = 300;

// Whatever a session holds is behind these two.
const started = vi.spyOn(CompanionHost.prototype, "startInvocation");
const pushed = vi.spyOn(ObservationQueue.prototype, "push");
const hosts = (): Set<CompanionHost> => new Set(started.mock.contexts as CompanionHost[]);
const queues = (): Set<ObservationQueue<unknown>> =>
  new Set(pushed.mock.contexts as ObservationQueue<unknown>[]);

const stray: unknown[] = [];
process.on("unhandledRejection", (reason) => void stray.push(reason));
afterEach(() => expect(stray.splice(0)).toEqual([]));

/** Promises that must settle. */
class Owed {
  open = 0;

  push(...promises: readonly Promise<unknown>[]): void {
    for (const promise of promises) {
      this.open += 1;
      const close = (): void => void (this.open -= 1);
      promise.then(close, close);
    }
  }
}

/** What rejects must be an error of this kit, or the program's own. */
function known(error: unknown): void {
  if (!isSluiceError(error)) throw error;
}

/** One session under way, and what it is checked against. */
class Play {
  readonly clock = new VirtualClock();
  readonly owed = new Owed();
  readonly checks: Promise<void>[] = [];
  /** What each stream carries, by the kind of its observation. */
  readonly contents = new Map<string, { readonly whole: Uint8Array; readonly fails: boolean }>();
  readonly world: World;
  /** The host is about to close the session. */
  readonly closing = Promise.withResolvers<void>();

  constructor(one: World) {
    this.world = one;
  }

  sleep(time: number, signal?: AbortSignal): Promise<void> {
    if (time === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.clock.setTimer(resolve, time);
      signal?.addEventListener("abort", () => {
        timer.cancel();
        resolve();
      });
    });
  }

  check(what: Promise<void>): void {
    this.owed.push(what);
    this.checks.push(what);
  }

  /** Moves time on until nothing is open, for so long. */
  async until(time: number, step: number): Promise<boolean> {
    for (let at = 0; at <= time; at += step) {
      await this.quiet();
      if (this.owed.open === 0) return true;
      this.bounded();
      this.clock.advance(step);
    }
    return false;
  }

  /** Lets everything go on that can without time. */
  async quiet(): Promise<void> {
    for (let still = 0, before = this.traffic(); still < 3; still += 1) {
      await turn();
      const now = this.traffic();
      if (now !== before) still = 0;
      before = now;
    }
  }

  traffic: () => number = () => 0;
  /** Frames of one chunk may come over the bound. */
  mostQueued = LIMITS.aheadCount + MOST_IN_CHUNK;

  bounded(): void {
    const { window } = this.world;
    for (const host of hosts()) {
      const open = host.openStreams.length;
      const { bytes, cost } = host.held;
      expect(bytes).toBeLessThanOrEqual(window * open);
      expect(cost).toBeLessThanOrEqual(2 * window * open);
    }
    for (const queue of queues()) {
      expect(queue.size).toBeLessThanOrEqual(this.mostQueued);
    }
  }
}

function sourceOf(act: DataAct, play: Play, whole: Uint8Array) {
  if (act.kind === "bytes" && !act.fails) return whole;
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of act.chunks) chunks.push(whole.subarray(at, (at += size)));
  async function* generate(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      await play.sleep(act.pause);
      yield chunk;
    }
    if (act.fails) throw new Error("source broke");
  }
  if (act.kind !== "stream") return generate();
  const generator = generate();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await generator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The handler of one run. */
async function handle(one: Program, invocation: Invocation, play: Play): Promise<void> {
  const { signal, observe, operation } = invocation;
  let streams = 0;
  const send = (act: DataAct): Promise<void> => {
    streams += 1;
    const kind = `${operation} ${streams}`;
    let bytes = 0;
    for (const size of act.chunks) bytes += size;
    const whole = pattern(bytes, streams);
    play.contents.set(kind, { whole, fails: act.fails });
    const sent = observe(kind, { data: sourceOf(act, play, whole) });
    play.owed.push(sent);
    return sent.catch(() => {});
  };
  for (const act of one.acts) {
    if (one.heeds && signal.aborted) return;
    if (act.do === "throw") throw new Error("handler bug");
    if (act.do === "sleep") await play.sleep(act.time, one.heeds ? signal : undefined);
    else if (act.do === "data") await (act.wait ? send(act) : void send(act));
    else if (act.do === "sideBySide") await Promise.all(act.streams.map(send));
    else if (act.do === "input") await readInput(one, invocation, act.bytes);
    else
      for (const _ of range(1, act.count))
        await observe("inline", { payload: "x".repeat(act.bytes) }).catch(() => {});
  }
}

/** Reads so much of the input, and checks it. */
async function readInput(one: Program, { input }: Invocation, most: number): Promise<void> {
  if (input.locked) return;
  const reader = input.getReader();
  const got: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes < most) {
      const { done, value } = await reader.read();
      if (done) break;
      got.push(value);
      bytes += value.length;
    }
  } catch (error) {
    known(error);
  }
  expect(concat(got)).toEqual(pattern(one.input?.bytes ?? 0, 99).subarray(0, bytes));
}

function inputOf(one: Program) {
  const { input } = one;
  if (input === undefined) return undefined;
  const whole = pattern(input.bytes, 99);
  if (!input.fails) return whole;
  return (async function* () {
    yield whole;
    throw new Error("input broke");
  })();
}

/** Reads a stream as far as `most`, and checks what came. */
async function read(
  { kind, data }: Observation,
  play: Play,
  { most = Infinity, ordinary }: { readonly most?: number; readonly ordinary: boolean },
): Promise<void> {
  const { whole, fails } = play.contents.get(kind)!;
  const got: Uint8Array[] = [];
  let bytes = 0;
  let failure: unknown;
  try {
    for await (const chunk of data!) {
      got.push(chunk);
      bytes += chunk.length;
      if (bytes >= most) break;
    }
  } catch (error) {
    failure = error;
  }
  expect(concat(got)).toEqual(whole.subarray(0, bytes));
  if (failure !== undefined) {
    known(failure);
    if (ordinary)
      expect([fails, (failure as { code: string }).code]).toEqual([true, "stream_aborted"]);
    return;
  }
  if (bytes >= most) return;
  expect([bytes, fails]).toEqual([whole.length, false]);
  expect(data!.digest).toBe(sha256Digest(whole));
}

/** Locks a stream and leaves it; whatever becomes of it, a read that comes much later settles. */
async function lock(data: DataStream, play: Play): Promise<void> {
  const reader = data.getReader();
  await play.closing.promise;
  await reader.read().catch((error: unknown) => known(error));
}

async function consume(one: Program, run: Run, play: Play): Promise<void> {
  const ordinary = isOrdinary(play.world);
  let last = 0;
  const follows = ({ sequence }: Observation): void => expect(sequence).toBe((last += 1));
  if (one.consumer === "nothing") return;
  if (one.completedToo || one.consumer === "completed") play.owed.push(run.completed);
  if (one.accepted) play.owed.push(run.accepted);
  if (one.consumer === "completed") return;
  if (one.consumer === "collect") {
    const seen = await Array.fromAsync(run);
    for (const observation of seen) {
      follows(observation);
      if (observation.data !== undefined)
        play.check(read(observation, play, { most: Infinity, ordinary }));
    }
    return;
  }
  if (one.consumer === "ahead") {
    const steps = run[Symbol.asyncIterator]();
    for (;;) {
      const results = await Promise.all(range(1, 3).map(() => steps.next()));
      for (const { value } of results) if (value !== undefined) follows(value);
      if (results.some(({ done }) => done)) return;
    }
  }
  const later: Observation[] = [];
  for await (const observation of run) {
    follows(observation);
    await take(observation, one.readings[last % one.readings.length]!);
    if (last === one.leaveAfter) break;
  }
  for (const observation of later) play.check(read(observation, play, { ordinary }));

  async function take(observation: Observation, { how, after, pause }: Reading): Promise<void> {
    const { data } = observation;
    await play.sleep(pause);
    if (data === undefined || how === "ignore") return;
    if (how === "later") later.push(observation);
    else if (how === "lock") play.checks.push(lock(data, play));
    else await read(observation, play, { ordinary, ...(how === "break" && { most: after + 1 }) });
  }
}

/** Holds the answers to `driver.invoke` back for so many lines, at most to the completion. */
function answeringLate({ readable, writable }: ByteDuplex, after: number): ByteDuplex {
  let rest = "";
  const held: { left: number; readonly line: string }[] = [];
  const decoder = new TextDecoder();
  const late = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.includes('"result":{}')) held.push({ left: after, line });
        else put(line);
        const isEnd = line.includes("driver.completed");
        for (const one of held) one.left = isEnd ? 0 : one.left - (one.line === line ? 0 : 1);
        while (held.length > 0 && held[0]!.left <= 0) put(held.shift()!.line);
      }

      function put(line: string): void {
        controller.enqueue(new TextEncoder().encode(`${line}\n`));
      }
    },
    flush(controller) {
      for (const { line } of held) controller.enqueue(new TextEncoder().encode(`${line}\n`));
    },
  });
  return { readable: readable.pipeThrough(late), writable };
}

const ends: Record<string, number> = {};
const count = (what: string): void => void (ends[what] = (ends[what] ?? 0) + 1);

async function runWorld(one: World): Promise<void> {
  const stage = new Play(one);
  const { clock, owed } = stage;
  const pipes = { highWaterMark: one.pipe };
  const [control, servedControl] = duplexPair(pipes);
  const [companion, duplex] = duplexPair(pipes);
  const terms = { companionWindow: one.window, dataFrameBytes: one.frame };
  const byOperation = new Map(one.programs.map((each, index) => [`op ${index}`, each]));
  const served = serveControl(servedControl, {
    identity: IDENTITY,
    clock,
    companion: { duplex },
    capabilities: {
      cancellation: one.cancellation,
      concurrency: one.room > 1,
      max_concurrency: one.room,
    },
    handlerGrace: LIMITS.handlerGrace,
    ...terms,
    invoke: async (invocation) => {
      await handle(byOperation.get(invocation.operation)!, invocation, stage);
    },
  });
  served.catch(() => {});
  const late = one.answerAfter > 0 ? answeringLate(control, one.answerAfter) : control;
  const ordinary = isOrdinary(one);
  const driver: Driver = await connectDriver(late, {
    clock,
    companion,
    ...LIMITS,
    ...terms,
    // A driver that runs far ahead of the data that its host reads fails its run, by the rules.
    ...(ordinary && { aheadCount: MOST_OBSERVATIONS }),
  });
  await driver.prepare(PLAN);
  if (ordinary) stage.mostQueued = MOST_OBSERVATIONS;
  stage.traffic = () => driver.stats.bytesIn + driver.stats.bytesOut + heldBytes();
  const runs = [...byOperation].map(([operation, each]) => {
    const { timeout, idleTimeout, hold } = each;
    const run = driver.invoke(operation, { timeout, idleTimeout, hold, input: inputOf(each) });
    if (each.cancelAfter > 0) void stage.sleep(each.cancelAfter).then(() => run.cancel());
    const consuming = consume(each, run, stage);
    consuming.catch(() => {});
    stage.checks.push(consuming.catch((error: unknown) => known(error)));
    owed.push(consuming, run.inputSent);
    return run;
  });
  const byItself = await stage.until(LONG, 20);
  if (!isLeftAlone(one)) expect(byItself).toBe(true);
  if (ordinary) {
    for (const run of runs) {
      const { status, cancelled, incomplete } = await run.completed;
      expect(["completed", "errored"]).toContain(status);
      expect([cancelled, incomplete]).toEqual([undefined, undefined]);
    }
    expect(clock.now()).toBeLessThan(3000);
  }
  stage.closing.resolve();
  owed.push(...stage.checks, ...runs.flatMap((run) => [run.completed, run.accepted]));
  owed.push(driver.close(), driver.ended, served);
  expect(await stage.until(CLOSING, 25)).toBe(true);
  await stage.quiet();
  clock.advance(LONG);
  await stage.quiet();
  expect(clock.pending).toBe(0);
  await Promise.all(stage.checks);
  count(ordinary ? "ordinary" : "other");
  count((await driver.ended).reason.code);
  started.mockClear();
  pushed.mockClear();
}

function heldBytes(): number {
  let bytes = 0;
  for (const host of hosts()) bytes += host.held.bytes * 3 + host.openStreams.length;
  return bytes;
}

test(`in ${RUNS} random sessions nothing hangs, no byte is lost or doubled, and memory stays within its bounds`, async () => {
  await fc.assert(fc.asyncProperty(world, runWorld), {
    numRuns: RUNS,
    ...(SEED > 0 && { seed: SEED }),
  });
  expect(ends["ordinary"]).toBeGreaterThan(RUNS / 5);
  expect(ends["session_closed"]).toBeGreaterThan(RUNS / 2);
  if (RUNS > MOST_RUNS) console.log(ends);
}, 3_600_000);
