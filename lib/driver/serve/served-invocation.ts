import type { Clock } from "../../clock.ts";
import { SluiceError } from "../../errors.ts";
import type { JsonObject } from "../../json/value.ts";
import type { Peer } from "../../rpc/peer.ts";
import { ignore, rejected } from "../../rpc/promises.ts";
import type { CompanionDriver } from "../companion/mod.ts";
import { CheckedMessage } from "../codec/checked-message.ts";
import { TerminalStatus } from "../contract/completed.ts";
import type { ExactInputHandle, InvokeParams } from "../contract/invoke.ts";
import { Method } from "../contract/method.ts";
import type { ObservationParams } from "../contract/observation.ts";
import { Summary } from "../summary.ts";
import { tell } from "../tell.ts";
import { inputOf } from "./input-of.ts";
import { nextTurn } from "./next-turn.ts";
import { ServedData } from "./served-data.ts";
import type { Invocation, ObserveOptions, ServeOptions } from "./serve-options.ts";

/** Over this many bytes waiting to be written, `observe` waits for the host. */
const HIGH_WATER = 64 * 1024;
/** After this many observations the event loop turns: with a host that reads fast nothing else would let a cancel in. */
const BURST = 64;

/** What an invocation stands on. */
interface Setup {
  readonly peer: Peer;
  readonly clock: Clock;
  readonly options: ServeOptions;
  readonly permissions: readonly string[];
  readonly companion: CompanionDriver | undefined;
}

/** One invocation at the driver's end: numbers its observations and sends its completion exactly once. */
export class ServedInvocation implements Invocation {
  readonly operation: string;
  readonly invocationId: string;
  readonly attemptId: string;
  readonly inputHandle: ExactInputHandle;
  readonly permissions: readonly string[];
  readonly #setup: Setup;
  readonly #controller = new AbortController();
  readonly #summary = new Summary();
  readonly #data: ServedData;
  #input: ReadableStream<Uint8Array> | undefined;
  #sequence = 0;
  /** Whether the last record was not taken for sending. */
  #refused = false;
  #ended = false;
  /** Settles when the last observation was written. */
  #written: Promise<void> = Promise.resolve();

  constructor(params: InvokeParams, setup: Setup) {
    this.operation = params.operation;
    this.invocationId = params.invocation_id;
    this.attemptId = params.attempt_id;
    this.inputHandle = params.ephemeral_exact_input_handle;
    this.permissions = setup.permissions;
    this.#setup = setup;
    this.#data = new ServedData(setup.companion, params, this.#summary);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get input(): ReadableStream<Uint8Array> {
    this.#input ??=
      this.#data.input(this.inputHandle) ??
      inputOf(this.inputHandle, this.#setup.options.openInput);
    return this.#input;
  }

  readonly observe = async (kind: string, options: ObserveOptions = {}): Promise<void> => {
    const { payload, data } = options;
    if (this.#ended)
      throw new SluiceError(
        "invocation_ended",
        `The invocation has ended: observation ${kind.slice(0, 60)} was not sent`,
      );
    if (data === undefined)
      return await this.#announce(kind, payload === undefined ? {} : { payload });
    if (payload !== undefined)
      throw new TypeError("An observation carries a payload or data, not both");
    const streamId = this.#data.nextStreamId(data);
    const announced = this.#announce(kind, { data_stream: { stream_id: streamId } });
    // The record is queued by now, or was refused: then nobody expects the stream.
    if (this.#refused) return await announced;
    await Promise.all([announced, this.#data.send(streamId, data)]);
  };

  /** Sends the record of an observation. */
  async #announce(kind: string, content: Partial<ObservationParams>): Promise<void> {
    const sequence = this.#sequence + 1;
    const params = {
      invocation_id: this.invocationId,
      attempt_id: this.attemptId,
      sequence,
      kind,
      monotonic_ns: Math.round(this.#setup.clock.now() * 1e6),
      ...content,
    };
    const written = this.#send(Method.Observation, params);
    // One that was refused has no number; one that is queued is waited for only when much is queued already.
    this.#refused = this.#sequence !== sequence;
    if (this.#refused) return await written;
    this.#written = written;
    if (this.#setup.peer.queuedBytes > HIGH_WATER) await written;
    if (sequence % BURST === 0) await nextTurn();
  }

  /** The session has committed to send this observation of the invocation. */
  sent({ sequence, kind, payload, data_stream: stream }: ObservationParams): void {
    this.#sequence = sequence;
    this.#summary.observe({ kind, sequence, payload, stream: stream?.stream_id });
  }

  /** Tells the handler that its work is not wanted any more. */
  abort(reason: SluiceError): void {
    this.#controller.abort(reason);
    this.#data.abort(reason);
  }

  /** Runs the handler and reports how it ended; never rejects. */
  async run(): Promise<void> {
    const status = await this.#handle();
    this.#ended = true;
    // Also makes room in a queue that a handler filled without waiting. A session that has ended has
    // told its handlers already.
    await this.#written.catch(ignore);
    await this.#data.settle();
    const params = {
      invocation_id: this.invocationId,
      attempt_id: this.attemptId,
      status,
      summary_digest: this.#summary.digest(),
      ...(this.#sequence > 0 && { last_sequence: this.#sequence }),
    };
    await this.#send(Method.Completed, params).catch(ignore);
    this.#data.end();
    await this.#input?.cancel().catch(ignore);
  }

  async #handle(): Promise<TerminalStatus> {
    const { options } = this.#setup;
    const unheeded = (): TerminalStatus =>
      this.signal.aborted ? TerminalStatus.Cancelled : TerminalStatus.Completed;
    try {
      return checkStatus((await options.invoke(this)) ?? unheeded());
    } catch (error) {
      if (this.signal.aborted) return TerminalStatus.Cancelled;
      tell(options.onError, error);
      return TerminalStatus.Errored;
    }
  }

  /** Sends a notification; resolves when it was written. */
  #send(method: Method, params: object): Promise<void> {
    const { peer } = this.#setup;
    try {
      return peer.send(CheckedMessage.of({ jsonrpc: "2.0", method, params: params as JsonObject }));
    } catch (refused) {
      return rejected(refused);
    }
  }
}

function checkStatus(status: TerminalStatus): TerminalStatus {
  if (Object.values(TerminalStatus).includes(status)) return status;
  throw new TypeError(
    `invoke() must return ${Object.values(TerminalStatus).join(", ")} or nothing, got ${JSON.stringify(status)?.slice(0, 60)}`,
  );
}
