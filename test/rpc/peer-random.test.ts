import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError } from "../../lib/errors.ts";
import { settle, withScript } from "./scripted-peer.ts";

/** One step of a random program: `k` picks the call, the delay or the kind of answer. */
interface Step {
  readonly kind: "call" | "answer" | "abort" | "advance" | "stranger" | "notify" | "flush";
  readonly k: number;
}

interface Call {
  readonly controller: AbortController;
  readonly due: number;
  /** What the call should come to, once that is decided. */
  expected?: string;
  /** Whether the other side has answered it. */
  answered: boolean;
  /** What it came to. */
  readonly came: string[];
}

const step = fc.record<Step>({
  kind: fc.constantFrom(
    "call",
    "call",
    "answer",
    "answer",
    "abort",
    "advance",
    "stranger",
    "notify",
    "flush",
  ),
  k: fc.integer({ min: 0, max: 7 }),
});
const IN_FLIGHT = 3;

/** Runs steps against a peer and a model of it beside. */
class Program {
  readonly faults: string[] = [];
  readonly expectedFaults: string[] = [];
  readonly calls: Call[] = [];
  readonly refused: string[] = [];
  notifications = 0;
  heard = 0;
  late = 0;
  readonly #made = withScript({
    inFlight: IN_FLIGHT,
    onFault: "report",
    fault: (fault) => void this.faults.push(fault.code),
    onNotification: () => void (this.heard += 1),
  });

  get peer() {
    return this.#made.peer;
  }
  get clock() {
    return this.#made.clock;
  }
  get other() {
    return this.#made.other;
  }

  async run({ kind, k }: Step): Promise<void> {
    const call = this.calls[k];
    if (kind === "call") this.call(k);
    else if (kind === "answer" && call !== undefined) await this.answer(k, call);
    else if (kind === "abort" && call !== undefined) {
      call.controller.abort();
      call.expected ??= "aborted";
    } else if (kind === "advance") {
      this.clock.advance(k * 7);
      for (const each of this.calls) {
        if (each.due <= this.clock.now()) each.expected ??= "request_timeout";
      }
    } else if (kind === "stranger") {
      this.other.say({ id: `${k}`, result: "stranger" });
      this.expectedFaults.push("unknown_response");
    } else if (kind === "notify") {
      this.other.say({ method: "n" });
      this.notifications += 1;
    } else if (kind === "flush") await settle();
  }

  call(k: number): void {
    const waiting = this.calls.filter((each) => each.expected === undefined).length;
    const controller = new AbortController();
    const { signal } = controller;
    const call: Call = {
      controller,
      due: k === 0 ? Infinity : this.clock.now() + k * 10,
      answered: false,
      came: [],
    };
    const promise = this.peer.request("m", [k], { timeout: k * 10, signal });
    if (waiting >= IN_FLIGHT) {
      promise.catch((thrown: SluiceError) => this.refused.push(thrown.code));
      return;
    }
    this.calls.push(call);
    promise.then(
      () => call.came.push("result"),
      (thrown: SluiceError) => call.came.push(thrown.code),
    );
  }

  async answer(index: number, call: Call): Promise<void> {
    const failed = index % 2 === 1;
    const answer = failed ? { error: { code: 1, message: "no" } } : { result: index };
    this.other.say({ id: index + 1, ...answer });
    // The model decides when the answer arrives, so let it arrive.
    await settle();
    if (call.answered) this.expectedFaults.push("unknown_response");
    else if (call.expected !== undefined) this.late += 1;
    call.answered = true;
    call.expected ??= failed ? "remote_error" : "result";
  }
}

test("Peer settles every call exactly once, as a model says, and leaves nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom("hangUp", "close", "end"),
      async (steps, ending) => {
        const program = new Program();
        for (const each of steps) await program.run(each);
        await settle();
        const { peer, clock } = program;
        if (ending === "hangUp") await program.other.hangUp();
        else if (ending === "close") await peer.close();
        else peer.end(new SluiceError("connection_closed", "Test"));
        await peer.closed;
        await settle();
        for (const call of program.calls) {
          expect(call.came).toEqual([call.expected ?? "connection_closed"]);
        }
        expect(new Set(program.refused)).toEqual(
          new Set(program.refused.length > 0 ? ["too_many_requests"] : []),
        );
        expect(program.faults).toEqual(program.expectedFaults);
        expect([program.heard, peer.dropped]).toEqual([program.notifications, program.late]);
        expect([peer.waiting, clock.pending]).toEqual([0, 0]);
      },
    ),
    { numRuns: 60 },
  );
});
