import * as fc from "fast-check";
import { expect, test } from "vitest";
import { connectDriver, serveControl } from "../../lib/driver/mod.ts";
import type { Driver, DriverOptions, Invocation, Run, ServeOptions } from "../../lib/driver/mod.ts";
import { duplexPair } from "../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";
import { IDENTITY, PLAN } from "./support/frames.ts";
import { range } from "./support/session.ts";

interface Loop {
  readonly driver: Driver;
  readonly clock: VirtualClock;
  /** The driver's side. */
  readonly served: Promise<unknown>;
}

/** A host and a driver of this kit, in virtual time. */
async function loop(
  serve: Partial<ServeOptions> & Pick<ServeOptions, "invoke">,
  options: DriverOptions & { readonly highWaterMark?: number } = {},
): Promise<Loop> {
  const clock = new VirtualClock();
  const { highWaterMark, ...rest } = options;
  const [mine, theirs] = duplexPair({ highWaterMark });
  const served = serveControl(theirs, { identity: IDENTITY, clock, ...serve });
  served.catch(() => {});
  const driver = await connectDriver(mine, { clock, ...rest });
  await driver.prepare(PLAN);
  return { driver, clock, served };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("thousands of observations arrive in order, whole, with the digest that the driver computed", async () => {
  const { driver, served } = await loop({
    invoke: async ({ observe, operation }) => {
      for (const n of range(1, 5000))
        await observe(operation, { payload: { n, text: "é".repeat(n % 50) } });
    },
  });
  for (const operation of ["first", "second"]) {
    const run = driver.invoke(operation);
    let count = 0;
    for await (const { sequence, kind, payload } of run) {
      count += 1;
      expect(sequence).toBe(count);
      expect(kind).toBe(operation);
      expect(payload).toEqual({ n: count, text: "é".repeat(count % 50) });
    }
    expect(count).toBe(5000);
    expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 5000 });
    expect(await run.accepted).toEqual({});
  }
  const { reason, rungs } = await driver.close();
  expect([reason.code, rungs]).toEqual(["session_closed", ["shutdown"]]);
  await served;
});

test("a consumer that is slow holds the handler back", async () => {
  let sent = 0;
  const { driver, served } = await loop(
    {
      invoke: async ({ observe }) => {
        for (const n of range(1, 3000)) {
          await observe("k", { payload: "x".repeat(500) });
          sent = n;
        }
      },
    },
    { highWaterMark: 4096 },
  );
  let taken = 0;
  let most = 0;
  for await (const _ of driver.invoke("op")) {
    taken += 1;
    if (taken % 100 === 0) await turn();
    most = Math.max(most, sent - taken);
  }
  expect(taken).toBe(3000);
  // The host's 64 and a chunk, the pipe, and twice 64 KiB at the driver: about 700 bytes a frame.
  expect(most).toBeLessThan(400);
  await driver.close();
  await served;
});

test("invocations that are queued run one after the other, each with its own observations", async () => {
  let underway = 0;
  const { driver, served } = await loop({
    invoke: async ({ observe, operation }) => {
      underway += 1;
      expect(underway).toBe(1);
      for (const _ of range(1, 20)) await observe(operation);
      underway -= 1;
    },
  });
  const runs = range(1, 30).map((n) => driver.invoke(`op ${n}`));
  await Promise.all(
    runs.map(async (run) => {
      let count = 0;
      for await (const { kind } of run) {
        count += 1;
        expect(kind).toBe(run.operation);
      }
      expect(count).toBe(20);
    }),
  );
  await driver.close();
  await served;
});

/** What a handler does, in order. */
type Act =
  | {
      readonly do: "observe";
      readonly count: number;
      readonly bytes: number;
      readonly wait: boolean;
    }
  | { readonly do: "sleep"; readonly time: number }
  | { readonly do: "throw" };

/** What the host does with one run, in order. */
type Deed =
  | { readonly do: "take"; readonly count: number }
  | { readonly do: "stall"; readonly time: number }
  | { readonly do: "leave" | "cancel" | "abort" | "completed" | "accepted" | "refresh" | "reset" };

interface Program {
  readonly acts: readonly Act[];
  readonly heeds: boolean;
  readonly deeds: readonly Deed[];
  readonly timeout: number;
  readonly idleTimeout: number;
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    do: fc.constant("observe" as const),
    count: fc.integer({ min: 1, max: 60 }),
    bytes: fc.nat({ max: 400 }),
    wait: fc.boolean(),
  }),
  fc.record({ do: fc.constant("sleep" as const), time: fc.nat({ max: 80 }) }),
  fc.record({ do: fc.constant("throw" as const) }),
);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ do: fc.constant("take" as const), count: fc.integer({ min: 1, max: 80 }) }),
  fc.record({ do: fc.constant("stall" as const), time: fc.nat({ max: 80 }) }),
  fc.record({
    do: fc.constantFrom("leave", "cancel", "abort", "completed", "accepted", "refresh", "reset"),
  }),
) as fc.Arbitrary<Deed>;
const program: fc.Arbitrary<Program> = fc.record({
  acts: fc.array(act, { maxLength: 5 }),
  heeds: fc.boolean(),
  deeds: fc.array(deed, { maxLength: 6 }),
  timeout: fc.constantFrom(0, 0, 50, 150),
  idleTimeout: fc.constantFrom(0, 0, 40),
});

function sleep(clock: VirtualClock, time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(resolve, time);
    signal?.addEventListener("abort", () => {
      timer.cancel();
      resolve();
    });
  });
}

/** The promises that must settle; how is not their owner's worry. */
class Owed {
  readonly promises: Promise<unknown>[] = [];

  push(...promises: readonly Promise<unknown>[]): void {
    for (const promise of promises) promise.catch(() => {});
    this.promises.push(...promises);
  }
}

async function perform({ acts, heeds }: Program, invocation: Invocation, clock: VirtualClock) {
  const { signal, observe } = invocation;
  for (const step of acts) {
    if (heeds && signal.aborted) return;
    if (step.do === "throw") throw new Error("handler bug");
    if (step.do === "sleep") await sleep(clock, step.time, heeds ? signal : undefined);
    else {
      for (const _ of range(1, step.count)) {
        const sent = observe("k", { payload: "x".repeat(step.bytes) });
        sent.catch(() => {});
        if (step.wait) await sent;
      }
    }
  }
}

/** Does the deeds to one run; returns what it saw. Every promise that must settle goes to `owed`. */
async function consume(
  { deeds }: Program,
  {
    run,
    driver,
    clock,
    controller,
  }: { run: Run; driver: Driver; clock: VirtualClock; controller: AbortController },
  owed: Owed,
): Promise<number[]> {
  const seen: number[] = [];
  let steps: AsyncIterator<{ sequence: number }> | undefined;
  const begin = () => (steps ??= run[Symbol.asyncIterator]());
  for (const step of deeds) {
    if (step.do === "stall") await sleep(clock, step.time);
    else if (step.do === "leave") await begin().return?.();
    else if (step.do === "cancel") run.cancel();
    else if (step.do === "abort") controller.abort();
    else if (step.do === "completed") owed.push(run.completed);
    else if (step.do === "accepted") owed.push(run.accepted);
    else if (step.do === "refresh") owed.push(driver.refreshCapabilities());
    else if (step.do === "reset") owed.push(driver.reset());
    else if (step.do === "take") {
      for (const _ of range(1, step.count)) {
        const next = await begin().next();
        if (next.done === true) return seen;
        seen.push(next.value.sequence);
      }
    }
  }
  return seen;
}

test("whatever host and handler do, nothing hangs: everything settles, in order, and no timer is left", async () => {
  const ended: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(
      fc.array(program, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(512, 8192, 65_536),
      fc.boolean(),
      fc.nat({ max: 200 }),
      async (programs, highWaterMark, cancellation, closeAfter) => {
        const byOperation = new Map(programs.map((one, index) => [`op ${index}`, one]));
        const limits = {
          runQueueCount: 8,
          aheadCount: 40,
          cancelDeadline: 100,
          drainTimeout: 200,
          handlerGrace: 50,
        };
        let clock!: VirtualClock;
        const session = await loop(
          {
            invoke: async (invocation) => {
              await perform(byOperation.get(invocation.operation)!, invocation, clock);
            },
            capabilities: { cancellation },
            handlerGrace: 50,
          },
          { highWaterMark, ...limits },
        );
        const { driver, served } = session;
        clock = session.clock;
        const owed = new Owed();
        for (const [operation, one] of byOperation) {
          const controller = new AbortController();
          const { timeout, idleTimeout } = one;
          const run = driver.invoke(operation, { signal: controller.signal, timeout, idleTimeout });
          const seeing = consume(one, { run, driver, clock, controller }, owed);
          owed.push(seeing.then((seen) => expect(seen).toEqual(range(1, seen.length))));
        }
        void sleep(clock, closeAfter).then(() => owed.push(driver.close()));
        owed.push(driver.ended, served);
        for (let step = 0; step < 60 && !(await isOver(owed.promises, clock)); step += 1)
          clock.advance(step < 20 ? 10 : 400);
        expect(await isOver(owed.promises, clock)).toBe(true);
        const { reason } = await driver.ended;
        const { code } = reason as { code: string };
        ended[code] = (ended[code] ?? 0) + 1;
        expect(["session_closed", "cancellation_timeout", "drain_timeout"]).toContain(code);
        const outcomes = await Promise.allSettled(owed.promises);
        for (const outcome of outcomes)
          if (outcome.status === "rejected") expect(outcome.reason).toHaveProperty("code");
      },
    ),
    { numRuns: 50 },
  );
  expect(ended["session_closed"]).toBeGreaterThan(20);
}, 30_000);

/** Whether everything owed has settled and no timer is left, once what can go on without time has. */
async function isOver(owed: readonly Promise<unknown>[], clock: VirtualClock): Promise<boolean> {
  for (let round = 0; round < 2; round += 1) await turn();
  let open = owed.length;
  const close = (): void => void (open -= 1);
  for (const promise of owed) promise.then(close, close);
  await turn();
  return open === 0 && clock.pending === 0;
}
