import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concat } from "../../../lib/bytes/concat.ts";
import {
  CompanionDriver,
  CompanionHost,
  type IncomingStream,
  type OutgoingStream,
} from "../../../lib/driver/companion/mod.ts";
import type { ReceivedStream } from "../../../lib/driver/companion/incoming-stream.ts";
import { SluiceError } from "../../../lib/errors.ts";
import { sha256Digest } from "../../../lib/json/mod.ts";
import { duplexPair } from "../../../lib/streams/mod.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { type Block, encodeBlocks } from "./support/blocks.ts";
import { RUN, stream } from "./support/ids.ts";
import { abort, frame, hello } from "./support/scripted-end.ts";

/** What one stream does: its source, and what its consumer does with it. */
const plan = fc.record({
  chunks: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 12 }),
  fails: fc.boolean(),
  asIterable: fc.boolean(),
  sentAt: fc.integer({ min: 0, max: 12 }),
  expectedAt: fc.integer({ min: 0, max: 12 }),
  pause: fc.integer({ min: 0, max: 3 }),
  consumer: fc.constantFrom("read", "read", "read", "cancel", "discard", "abort", "ignore"),
  leaveAfter: fc.integer({ min: 0, max: 150 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

const world = fc.record({
  data: fc.array(plan, { maxLength: 5 }),
  inputs: fc.array(plan, { maxLength: 3 }),
  window: fc.integer({ min: 1, max: 64 }),
  maxFrame: fc.integer({ min: 1, max: 40 }),
  pipe: fc.integer({ min: 1, max: 400 }),
});

const gaveUp = new SluiceError("gave_up", "The consumer wants no more");
const MOST_STEPS = 4000;

/** Time that moves on only when everything due has run. */
class World {
  readonly clock = new VirtualClock();
  readonly #running = new Set<Promise<void>>();
  #done = 0;

  sleep(delay: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(resolve, delay));
  }

  run(actor: Promise<void>): void {
    this.#running.add(actor);
    actor.then(
      () => (this.#done += 1),
      () => (this.#done += 1),
    );
  }

  /** Runs everything to its end; throws when it hangs. */
  async finish(check: () => void): Promise<void> {
    for (let step = 0; this.#done < this.#running.size; step += 1) {
      if (step > MOST_STEPS) throw new Error("It hangs");
      for (let k = 0; k < 50; k += 1) await Promise.resolve();
      if (step % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      check();
      this.clock.advance(1);
    }
    await Promise.all(this.#running);
  }
}

function contents({ chunks }: Plan, seed: number): Uint8Array[] {
  let next = seed * 31;
  return chunks.map((size) => Uint8Array.from({ length: size }, () => next++ & 0xff));
}

function source(
  one: Plan,
  chunks: readonly Uint8Array[],
): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> {
  async function* generate(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      await Promise.resolve();
      yield chunk;
    }
    if (one.fails) throw new Error("source broke");
  }
  if (one.asIterable) return generate();
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

/** Reads as the plan says, and checks that what came is what was sent. */
async function consume(
  one: Plan,
  { incoming, sent, time }: { incoming: IncomingStream; sent: Uint8Array; time: World },
): Promise<void> {
  const got: Uint8Array[] = [];
  let bytes = 0;
  const prefix = (): void => expect(concat(got)).toEqual(sent.slice(0, bytes));
  if (one.consumer === "ignore") return incoming.discard(gaveUp);
  const reader = incoming.data.getReader();
  for (;;) {
    if (one.consumer !== "read" && one.consumer !== "abort" && bytes >= one.leaveAfter) {
      prefix();
      if (one.consumer === "cancel") return reader.cancel();
      if (one.consumer === "discard") {
        incoming.discard(gaveUp);
        return expect(reader.read()).rejects.toBe(gaveUp);
      }
    }
    if (one.pause > 0) await time.sleep(one.pause);
    let result: ReadableStreamReadResult<Uint8Array>;
    try {
      result = await reader.read();
    } catch (error) {
      expect(error).toMatchObject({ code: "stream_aborted" });
      expect(one.fails || one.consumer === "abort").toBe(true);
      return prefix();
    }
    if (result.done) break;
    got.push(result.value);
    bytes += result.value.length;
    prefix();
  }
  expect(concat(got)).toEqual(sent);
  expect(incoming.data.digest).toBe(sha256Digest(sent));
  expect(one.fails).toBe(false);
}

async function agree(outgoing: OutgoingStream, incoming: IncomingStream): Promise<void> {
  const [there, here] = await Promise.all([outgoing.ended, incoming.ended]);
  expect([here.end, here.length, here.sha256]).toEqual([there.end, there.length, there.sha256]);
}

describe("CompanionHost and CompanionDriver", () => {
  test("lose, double and hang nothing, whatever both ends do, and hold no more than the windows", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ data, inputs, window, maxFrame, pipe }) => {
        const time = new World();
        const [here, there] = duplexPair({ highWaterMark: pipe });
        const faults: unknown[] = [];
        const options = {
          companionWindow: window,
          dataFrameBytes: maxFrame,
          onFault: (fault: unknown) => void faults.push(fault),
        };
        const driver = new CompanionDriver(there, options);
        const host = new CompanionHost(here, options);
        host.startInvocation(RUN);
        await Promise.all([host.ready, driver.ready]);
        const actor = async (
          one: Plan,
          name: string,
          ends: { send: "sendData" | "sendInput"; take: "expect" | "input" },
        ): Promise<void> => {
          const ids = stream(name);
          const chunks = contents(one, name.length + one.leaveAfter);
          const sender = async (): Promise<OutgoingStream> => {
            await time.sleep(one.sentAt);
            const from = source(one, chunks);
            const outgoing =
              ends.send === "sendData" ? driver.sendData(ids, from) : host.sendInput(ids, from);
            if (one.consumer === "abort")
              void time.sleep(one.leaveAfter / 10).then(() => outgoing.abort(gaveUp));
            return outgoing;
          };
          const taker = async (): Promise<IncomingStream> => {
            await time.sleep(one.expectedAt);
            const incoming = ends.take === "expect" ? host.expect(ids) : driver.input(ids);
            await consume(one, { incoming, sent: concat(chunks), time });
            return incoming;
          };
          const [outgoing, incoming] = await Promise.all([sender(), taker()]);
          await agree(outgoing, incoming);
        };
        data.forEach((one, k) =>
          time.run(actor(one, `data ${k}`, { send: "sendData", take: "expect" })),
        );
        inputs.forEach((one, k) =>
          time.run(actor(one, `input ${k}`, { send: "sendInput", take: "input" })),
        );
        await time.finish(() => {
          for (const [end, count] of [
            [host, data.length],
            [driver, inputs.length],
          ] as const) {
            expect(end.held.bytes).toBeLessThanOrEqual(window * count);
            for (const one of end.openStreams as readonly ReceivedStream[])
              expect(one.held.bytes).toBeLessThanOrEqual(window);
            expect(end.held.cost).toBeLessThanOrEqual(2 * window * count);
          }
        });
        expect(faults).toEqual([]);
        expect([host.openStreams, driver.openStreams, host.held.bytes, driver.held.bytes]).toEqual([
          [],
          [],
          0,
          0,
        ]);
        await Promise.all([driver.close(), host.halfClose()]);
        expect(await host.ended).toBeUndefined();
        host.close();
      }),
      { numRuns: 120 },
    );
  }, 30_000);

  test("a serial driver: nothing lost, doubled or hung, and no more held than the bounds", async () => {
    const limit = 50;
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { maxLength: 5 }),
        fc.integer({ min: 1, max: 300 }),
        async (plans, pipe) => {
          const time = new World();
          const [here, there] = duplexPair({ highWaterMark: pipe });
          const faults: unknown[] = [];
          const host = new CompanionHost(here, {
            serialStreamBytes: limit,
            onFault: (fault) => void faults.push(fault),
          });
          const writer = there.writable.getWriter();
          const write = (...blocks: readonly Block[]): Promise<void> =>
            writer.write(encodeBlocks(blocks));
          void write(hello({ window: 0 }));
          await host.ready;
          host.startInvocation(RUN);
          const sent = plans.map((one, k) => contents(one, k));
          // The driver writes one stream after the other, and announces each just before.
          const announced = plans.map(() => Promise.withResolvers<void>());
          time.run(
            (async () => {
              for (const [k, one] of plans.entries()) {
                announced[k]!.resolve();
                for (const [sequence, payload] of sent[k]!.entries())
                  await write(frame(`s${k}`, sequence, { payload }));
                await write(
                  one.fails ? abort(`s${k}`) : frame(`s${k}`, sent[k]!.length, { final: true }),
                );
              }
            })(),
          );
          for (const [k, one] of plans.entries()) {
            const follow = async (): Promise<void> => {
              await announced[k]!.promise;
              await time.sleep(one.expectedAt);
              const incoming = host.expect(stream(`s${k}`));
              const consumer = one.consumer === "abort" ? "read" : one.consumer;
              await consume({ ...one, consumer }, { incoming, sent: concat(sent[k]!), time });
              const all = concat(sent[k]!);
              expect(await incoming.ended).toMatchObject({
                end: one.fails ? "abort" : "final",
                length: all.length,
                sha256: sha256Digest(all).slice(7),
              });
            };
            time.run(follow());
          }
          await time.finish(() => {
            if (!host.heldEarly)
              expect(host.held.bytes).toBeLessThanOrEqual(plans.length * (limit + pipe + 300));
          });
          expect(faults).toEqual([]);
          expect([host.openStreams, host.held.bytes, host.reading]).toEqual([[], 0, true]);
          host.close();
        },
      ),
      { numRuns: 100 },
    );
  }, 30_000);
});
