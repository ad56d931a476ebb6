import type { OutgoingStream } from "../companion/mod.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";
import type { Machine } from "../machine.ts";
import type { HostedRun } from "./hosted-run.ts";
import type { InputOffer } from "./input-offer.ts";
import type { RunTimers } from "./run-timers.ts";

/** A run with what the session keeps beside it. */
export interface Entry {
  readonly run: HostedRun;
  readonly timers: RunTimers;
  /** Gives up waiting for the answer to `driver.invoke`. */
  readonly answer: AbortController;
  /** Stops listening to the caller's signal. */
  unlisten: () => void;
  /** Judges its frames, from the start on. */
  machine: Machine | undefined;
  /** Where the driver reads its input; undefined while that is being arranged. */
  handle: ExactInputHandle | undefined;
  /** The input that goes over the companion channel. */
  input: OutgoingStream | undefined;
  /** The input that is offered outside of it. */
  offer: InputOffer | undefined;
  /** Bytes of its data streams when its idle time last began. */
  idleBytes: number;
}
