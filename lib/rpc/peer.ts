import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { SluiceError, toSluiceError } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import type { ByteDuplex } from "../streams/duplex.ts";
import { Caller } from "./caller.ts";
import { FrameWriter } from "./frame-writer.ts";
import { messageOf } from "./message-of.ts";
import { MessageKind, messageKind } from "./message.ts";
import type { RpcMessage } from "./message.ts";
import { Outlet } from "./outlet.ts";
import { resolvePeerLimits } from "./peer-limits.ts";
import type { PeerOptions, RequestOptions } from "./peer-options.ts";
import { connectionClosed, invalidMessage, unknownResponse } from "./peer-faults.ts";
import { PendingTable } from "./pending-table.ts";
import { ignore, isThenable, rejected } from "./promises.ts";
import { ReadLoop } from "./read-loop.ts";
import { RemoteError } from "./rpc-error.ts";
import { Server } from "./server.ts";

/**
 * One end of a JSON-RPC 2.0 connection: calls the other side and serves its calls.
 *
 * Messages are handed on in wire order, also across kinds: code that awaits a call runs before a
 * notification that came after the answer. Reading waits neither for writing nor for handlers; it is
 * pull-driven and pauses only at the `gate`. When the peer ends, everything that waits is settled.
 * All promises it gives are marked as handled: a rejection that nobody awaits stays silent.
 */
export class Peer<M extends RpcMessage = RpcMessage> {
  /**
   * Resolves once the peer has ended, with the reason, or with undefined after a `close()` of this side.
   * Never rejects.
   */
  readonly closed: Promise<SluiceError | undefined>;
  readonly #options: PeerOptions<M>;
  readonly #clock: Clock;
  readonly #answerGrace: number;
  readonly #pending: PendingTable;
  readonly #writer: FrameWriter;
  readonly #outlet: Outlet<M>;
  readonly #caller: Caller<M>;
  readonly #server: Server<M>;
  readonly #reading: ReadLoop<M>;
  readonly #ended = Promise.withResolvers<SluiceError | undefined>();
  #state: "open" | "closing" | "ended" = "open";
  #reason: SluiceError | undefined;
  #lastFault: SluiceError | undefined;

  /**
   * Locks both streams and starts to read in the next microtask.
   *
   * @param duplex The byte channel.
   * @param options Codec, limits and callbacks.
   * @throws {RangeError} When a limit is out of range.
   */
  constructor(duplex: ByteDuplex, options: PeerOptions<M>) {
    this.#options = options;
    this.closed = this.#ended.promise;
    this.#clock = options.clock ?? systemClock;
    const limits = resolvePeerLimits(options);
    this.#answerGrace = limits.answerGrace;
    this.#pending = new PendingTable({
      clock: this.#clock,
      tombstones: limits.tombstones,
    });
    this.#writer = new FrameWriter(duplex.writable, {
      writeQueueBytes: limits.writeQueueBytes,
      onFailure: (failure) => this.#report(failure),
    });
    this.#outlet = new Outlet(options.codec, this.#writer, options.observe);
    this.#caller = new Caller({
      outlet: this.#outlet,
      pending: this.#pending,
      inFlight: limits.inFlight,
      requestTimeout: limits.requestTimeout,
      nextId: options.nextId,
      askReason: (failure) => this.#askReason(failure),
    });
    this.#server = new Server({
      outlet: this.#outlet,
      methods: options.methods,
      onRequest: options.onRequest,
      errorObject: options.errorObject,
      inFlight: limits.inFlight,
      fault: (fault) => this.#fault(fault),
    });
    this.#reading = new ReadLoop({
      readable: duplex.readable,
      decoder: options.codec.decoder(),
      gate: options.gate,
      onMessage: (message) => this.#dispatch(message),
      onFault: (fault, last) => (last ? this.#cutFrame(fault) : this.#fault(fault)),
      onEnd: (broken) => void this.#leave(broken),
    });
    this.#reading.start();
  }

  /** Calls of this side that wait for an answer. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** The methods of the calls that wait for an answer. */
  get inFlight(): readonly string[] {
    return this.#pending.methods;
  }

  /** Bytes that wait to be written or are being written. */
  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  /** Late answers to given-up calls that were dropped. */
  get dropped(): number {
    return this.#pending.dropped;
  }

  /**
   * Calls a method of the other side.
   *
   * @param method Its name.
   * @param params Its parameters, an array or an object; left out when undefined.
   * @returns The result. Rejects with {@link RemoteError} when the other side answers with an error;
   *   `request_timeout`; `aborted`; `too_many_requests` and `write_queue_full`, nothing being sent then;
   *   what the codec or `observe` threw; the reason when the peer ends.
   */
  request(method: string, params?: unknown, options: RequestOptions = {}): Promise<JsonValue> {
    return this.#caller.request(method, params, options);
  }

  /**
   * Sends a notification.
   *
   * @returns Resolves when it was written; rejects when it was refused or the write failed.
   */
  notify(method: string, params?: unknown): Promise<void> {
    return this.send(messageOf(method, params) as M);
  }

  /**
   * Sends a message built by the caller; an answer to an incoming request ends that request.
   *
   * @returns As {@link Peer.notify}.
   */
  send(message: M): Promise<void> {
    try {
      if (this.#reason !== undefined) throw this.#reason;
      const written = this.#outlet.post(message);
      const { id } = message;
      if (messageKind(message) === MessageKind.Response && id !== undefined && id !== null) {
        this.#server.release(id);
      }
      return written;
    } catch (thrown) {
      return rejected(thrown);
    }
  }

  /**
   * Ends the peer at once: what waits rejects with the reason, handlers are aborted, the readable side
   * is cancelled and the writable side aborted. Does nothing after the end.
   */
  end(reason: SluiceError): void {
    this.#finish(reason);
  }

  /**
   * Writes what is queued and closes the sending direction; reading and waiting calls go on.
   *
   * @returns Rejects when what was queued could not be written.
   */
  closeWrite(): Promise<void> {
    return this.#writer.close();
  }

  /**
   * Ends the peer in order: writes what is queued, closes the sending direction, stops reading, and rejects
   * calls that still wait with `connection_closed`. It waits for the other side to take what is queued;
   * {@link Peer.end} cuts that short.
   *
   * @returns What `closed` resolves with.
   */
  close(): Promise<SluiceError | undefined> {
    if (this.#state === "open") {
      this.#state = "closing";
      const finish = (): void => this.#finish(undefined);
      this.#writer.close().then(finish, finish);
    }
    return this.closed;
  }

  /** Takes one message; true when it settled a call. */
  #dispatch(message: M): boolean {
    try {
      this.#options.observe?.(message, "in");
    } catch (thrown) {
      this.#fault(
        toSluiceError(thrown, "message_refused", "The observer refused a message of the peer"),
      );
      return false;
    }
    if (this.#state === "ended") return false;
    const { id } = message;
    const kind = messageKind(message);
    if (kind === MessageKind.Response) return this.#settle(message);
    if (kind === MessageKind.Notification) this.#notified(message);
    else if (kind === MessageKind.Request && typeof id !== "object" && id !== undefined) {
      this.#server.accept(message, id);
    } else this.#fault(invalidMessage());
    return false;
  }

  #settle(response: M): boolean {
    if (response.id === null) {
      if (response.error === undefined) this.#fault(invalidMessage());
      else this.#report(new RemoteError(response.error, { code: "peer_error" }));
      return false;
    }
    const settlement = this.#caller.settle(response);
    if (settlement === "unknown") this.#fault(unknownResponse(response.id));
    return settlement === "settled";
  }

  #notified(message: M): void {
    const failed = (thrown: unknown): void =>
      this.#fault(
        toSluiceError(thrown, "notification_failed", "The handler of a notification failed"),
      );
    try {
      const returned: unknown = this.#options.onNotification?.(message);
      if (isThenable(returned)) returned.then(undefined, failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #fault(fault: SluiceError): void {
    if (this.#state === "ended") return;
    this.#report(fault);
    if (this.#options.onFault !== "report") this.#finish(fault);
  }

  #report(fault: SluiceError): void {
    if (this.#state === "ended") return;
    try {
      this.#options.fault?.(fault);
    } catch (thrown) {
      this.#finish(toSluiceError(thrown, "fault_callback_failed", "The fault callback threw"));
    }
  }

  /** A fault of the frame that the end cut: the end says more, and comes at once. */
  #cutFrame(fault: SluiceError): void {
    this.#lastFault = fault;
    this.#report(fault);
  }

  async #askReason(reason: SluiceError): Promise<SluiceError> {
    try {
      return (await this.#options.endReason?.(reason)) ?? reason;
    } catch {
      return reason;
    }
  }

  /** The other side ended its direction, or the channel broke. */
  async #leave(broken: { readonly cause: unknown } | undefined): Promise<void> {
    const what =
      broken === undefined ? "The peer closed the connection" : "Reading from the peer failed";
    const plain = connectionClosed(what, this.#pending, broken?.cause ?? this.#lastFault);
    const reason = this.#state === "open" ? await this.#askReason(plain) : plain;
    if (this.#state === "ended") return;
    this.#reason = reason;
    this.#caller.end(reason);
    if (broken === undefined && this.#answerGrace > 0) await this.#answerRest();
    this.#finish(this.#state === "closing" ? undefined : reason);
  }

  /** Lets handlers answer and the answers be written, for a bounded time. */
  async #answerRest(): Promise<void> {
    const { promise: expired, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.setTimer(resolve, this.#answerGrace);
    const answered = this.#server.idle().then(() => this.#writer.close());
    await Promise.race([answered.catch(ignore), expired, this.closed]);
    timer.cancel();
  }

  #finish(reason: SluiceError | undefined): void {
    if (this.#state === "ended") return;
    const shown = reason ?? connectionClosed("This side closed the connection", this.#pending);
    this.#state = "ended";
    this.#reason ??= shown;
    this.#caller.end(shown);
    this.#server.end(shown);
    this.#writer.abort(shown);
    this.#reading.stop(shown);
    this.#ended.resolve(reason);
  }
}
