import type { Clock } from "../clock.ts";
import type { SluiceError } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import type { Direction } from "../machine/state-machine.ts";
import type { MessageCodec } from "./codec.ts";
import type { RpcErrorObject, RpcId, RpcMessage } from "./message.ts";
import type { MethodTable } from "./method.ts";

/** What a request is answered with. */
export type RpcOutcome = { readonly result: JsonValue } | { readonly error: RpcErrorObject };

/**
 * Answers one request; called once.
 *
 * @returns Resolves when the answer was written. Rejects when it could not be: with the codec's error,
 *   what `observe` threw, or the write's failure. A second call rejects with a TypeError.
 */
export type Respond = (outcome: RpcOutcome) => Promise<void>;

/** Options of one call. */
export interface RequestOptions {
  /** Milliseconds until the call rejects with `request_timeout`; 0 for never. Default: the peer's `requestTimeout`. */
  readonly timeout?: number | undefined;
  /** Gives the call up when it aborts: it rejects at once, and a late answer is dropped. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a {@link Peer}. */
export interface PeerOptions<M extends RpcMessage = RpcMessage> {
  /** Framing, JSON and envelope rules, such as `jsonRpc()`. */
  readonly codec: MessageCodec<M>;
  /** Where timeouts come from. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Milliseconds that a call waits for its answer; 0 for no limit. Default 30 s. */
  readonly requestTimeout?: number | undefined;
  /** Most requests under way, in each direction. Default 64. */
  readonly inFlight?: number | undefined;
  /** Ids of given-up calls remembered, so that their late answers are dropped. Default 1024. */
  readonly tombstones?: number | undefined;
  /** Most bytes waiting to be written. Default 4 MiB. */
  readonly writeQueueBytes?: number | undefined;
  /**
   * Milliseconds that handlers may still take to answer, and the answers to be written, after the other
   * side has closed its sending direction; 0 to end at once. Default 1 s.
   */
  readonly answerGrace?: number | undefined;
  /** The methods that this side serves; used when `onRequest` is absent. */
  readonly methods?: MethodTable | undefined;
  /** Takes each notification, synchronously and in wire order; what it throws is a fault. */
  readonly onNotification?: ((message: M) => void) | undefined;
  /** Takes each request, synchronously and in wire order, in place of `methods`; what it throws is the answer. */
  readonly onRequest?: ((message: M, respond: Respond) => void) | undefined;
  /** What a fault does after it was reported to `fault`: end the peer, or go on with the next message. Default `end`. */
  readonly onFault?: "end" | "report" | undefined;
  /**
   * Told of each fault: what the decoder refused, `invalid_message`, `unknown_response`, what `observe` or
   * `onNotification` threw, an answer that could not be sent. Also told, without an end, of `peer_error`
   * (an error of the peer's that names no call) and of the first failure to write.
   */
  readonly fault?: ((fault: SluiceError) => void) | undefined;
  /**
   * Sees every message before it is dispatched (`in`) or written (`out`). When it throws, an incoming
   * message is a fault, and an outgoing one is not written and its call rejects with what was thrown.
   */
  readonly observe?: ((message: M, direction: Direction) => void) | undefined;
  /** Awaited before each read: reading pauses until it resolves. */
  readonly gate?: (() => Promise<void> | undefined) | undefined;
  /** Makes the ids of calls; they must not repeat. Default: 1, 2, 3 … */
  readonly nextId?: (() => RpcId) | undefined;
  /** Makes the error that answers a request whose handler threw. Default: code −32603 and the message alone. */
  readonly errorObject?: ((thrown: unknown) => RpcErrorObject) | undefined;
  /**
   * Asked when the other side has gone (end of input, read or write failure) for what the waiting calls
   * reject with, such as an error with the exit status; they wait until it answers.
   */
  readonly endReason?: ((reason: SluiceError) => SluiceError | Promise<SluiceError>) | undefined;
}
