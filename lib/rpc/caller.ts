import { handled, rejected } from "./promises.ts";
import type { SluiceError } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import { abortedError, tooManyRequests } from "./call-errors.ts";
import { checkDelay } from "./check-delay.ts";
import { messageOf } from "./message-of.ts";
import type { RpcId, RpcMessage } from "./message.ts";
import type { Outlet } from "./outlet.ts";
import type { PeerOptions, RequestOptions } from "./peer-options.ts";
import type { PendingTable, Settlement } from "./pending-table.ts";

/** What a {@link Caller} stands on. */
export interface CallerOptions<M extends RpcMessage> {
  readonly outlet: Outlet<M>;
  readonly pending: PendingTable;
  /** Most calls under way. */
  readonly inFlight: number;
  /** Milliseconds a call waits unless it says otherwise; 0 for no limit. */
  readonly requestTimeout: number;
  readonly nextId: PeerOptions<M>["nextId"];
  /** What calls reject with that could not be written. */
  readonly askReason: (failure: SluiceError) => Promise<SluiceError>;
}

/** The calling half of a peer: sends requests and settles each of them once. */
export class Caller<M extends RpcMessage> {
  readonly #options: CallerOptions<M>;
  #lastId = 0;
  #ended: SluiceError | undefined;
  #unsentReason: Promise<SluiceError> | undefined;

  constructor(options: CallerOptions<M>) {
    this.#options = options;
  }

  /** Sends a request; see `Peer.request`. Not async: code that awaits it runs one microtask after its settlement. */
  request(method: string, params: unknown, options: RequestOptions): Promise<JsonValue> {
    try {
      return handled(this.#call(method, params, options));
    } catch (thrown) {
      const { failure } = this.#options.outlet;
      if (failure === undefined || thrown !== failure || this.#ended !== undefined)
        return rejected(thrown);
      return handled(this.#unsent(failure).then((reason) => Promise.reject(reason)));
    }
  }

  /** Settles the call that a response answers. */
  settle(response: RpcMessage): Settlement {
    return this.#options.pending.settle(response);
  }

  /** Rejects what waits and every later call. */
  end(reason: SluiceError): void {
    this.#ended ??= reason;
    this.#options.pending.rejectAll(reason);
  }

  #call(method: string, params: unknown, options: RequestOptions): Promise<JsonValue> {
    const { outlet, pending, inFlight, requestTimeout } = this.#options;
    const timeout = checkDelay("timeout", options.timeout ?? requestTimeout);
    if (this.#ended !== undefined) throw this.#ended;
    if (options.signal?.aborted === true) throw abortedError(method, options.signal);
    if (pending.size >= inFlight) throw tooManyRequests(method, inFlight);
    const id = this.#nextId();
    // The codec checks when it encodes that this is a message of its own.
    const message = messageOf(method, params, id) as M;
    const frame = outlet.encode(message);
    outlet.admit(message, frame);
    const answer = pending.add(id, { method, timeout, signal: options.signal });
    outlet.write(frame).catch((failure: SluiceError) => void this.#failUnsent(id, failure));
    return answer;
  }

  #nextId(): RpcId {
    const { nextId, pending } = this.#options;
    const id = nextId === undefined ? (this.#lastId += 1) : nextId();
    if (pending.has(id)) throw new RangeError(`nextId() gave an id in use: ${JSON.stringify(id)}`);
    return id;
  }

  async #failUnsent(id: RpcId, failure: SluiceError): Promise<void> {
    const reason = this.#ended ?? (await this.#unsent(failure));
    this.#options.pending.fail(id, reason);
  }

  /** A writer fails once, so its reason is asked for once. */
  #unsent(failure: SluiceError): Promise<SluiceError> {
    return (this.#unsentReason ??= this.#options.askReason(failure));
  }
}
