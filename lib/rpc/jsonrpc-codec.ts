import { isSluiceError, SluiceError } from "../errors.ts";
import { lines } from "../frames/mod.ts";
import { canonicalJson, parseJson } from "../json/mod.ts";
import type { JsonValue } from "../json/mod.ts";
import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import { fuse } from "../stage/fuse.ts";
import { MAX_BATCH } from "../stage/stage.ts";
import type { Sink, Stage } from "../stage/stage.ts";
import type { MessageCodec } from "./codec.ts";
import { checkEnvelope } from "./envelope.ts";
import type { RpcMessage } from "./message.ts";
import { replaceSurrogates } from "./replace-surrogates.ts";

/** Options of {@link jsonRpc}. */
export interface JsonRpcOptions {
  /** Most bytes of a line without its ending, in both directions. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  /**
   * What an incoming batch is: one fault `batch_refused`, or its members in order, each a message or a
   * fault; answers to them go out one by one. Default `refuse`.
   */
  readonly batches?: "refuse" | "split" | undefined;
}

/** Most members of a batch: a bad one makes many errors out of few bytes. */
const MAX_MEMBERS = 1024;

/**
 * JSON-RPC 2.0 as others speak it, one message a line; empty lines are skipped.
 *
 * The JSON is read strictly (see `parseJson`), but for unpaired surrogate escapes, which are replaced by
 * U+FFFD. A bad line is one fault and the next one follows: the codes of `lines()` and `parseJson`,
 * `invalid_message` (see `data.rule`), `batch_refused`, `batch_too_large`.
 * Messages are written as canonical JSON text; `encode` throws `unencodable` for a value that has none,
 * `invalid_message`, and `frame_too_large` over `maxBytes`.
 *
 * @throws {RangeError} When `maxBytes` is not a whole number of at least 1.
 */
export function jsonRpc(options: JsonRpcOptions = {}): MessageCodec {
  const maxBytes = checkLimit("maxBytes", options.maxBytes ?? DEFAULT_LIMITS.controlFrameBytes);
  const split = options.batches === "split";
  return {
    decoder: () => fuse(lines({ maxBytes, empty: "skip" }), new Messages(split)),
    encode: (message) => encodeMessage(message, maxBytes),
  };
}

class Messages implements Stage<string, RpcMessage> {
  readonly #split: boolean;
  #batch: RpcMessage[] = [];

  constructor(split: boolean) {
    this.#split = split;
  }

  push(texts: readonly string[], sink: Sink<RpcMessage>): void {
    for (const text of texts) {
      if (!sink.open) break;
      this.#attempt(sink, () => this.#take(readText(text), sink));
    }
    this.#flush(sink);
  }

  end(): void {}

  #take(value: JsonValue, sink: Sink<RpcMessage>): void {
    if (!Array.isArray(value)) {
      this.#emit(value, sink);
      return;
    }
    checkBatch(value, this.#split);
    for (const member of value) {
      if (!sink.open) return;
      this.#attempt(sink, () => this.#emit(member, sink));
    }
  }

  #emit(value: JsonValue, sink: Sink<RpcMessage>): void {
    this.#batch.push(checkEnvelope(value));
    if (this.#batch.length === MAX_BATCH) this.#flush(sink);
  }

  /** Runs one step; a coded error is a fault in place. */
  #attempt(sink: Sink<RpcMessage>, step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (!isSluiceError(thrown)) throw thrown;
      this.#flush(sink);
      if (sink.open) sink.fail(thrown);
    }
  }

  #flush(sink: Sink<RpcMessage>): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    if (sink.open) sink.next(batch);
  }
}

function readText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (!isSluiceError(thrown, "lone_surrogate")) throw thrown;
    return parseJson(replaceSurrogates(text));
  }
}

function checkBatch(members: readonly JsonValue[], split: boolean): void {
  const data = { members: members.length };
  if (!split) {
    const message = `The peer sent a batch of ${members.length} messages; set batches to "split" to take it`;
    throw new SluiceError("batch_refused", message, { data });
  }
  if (members.length === 0) {
    throw new SluiceError("invalid_message", "The peer sent a batch without members", {
      data: { rule: "a batch has members" },
    });
  }
  if (members.length > MAX_MEMBERS) {
    const message = `The peer sent a batch of ${members.length} messages, more than ${MAX_MEMBERS}`;
    throw new SluiceError("batch_too_large", message, { data });
  }
}

function encodeMessage(message: RpcMessage, maxBytes: number): Uint8Array {
  const text = canonicalJson(checkEnvelope(message));
  const frame = new TextEncoder().encode(`${text}\n`);
  if (frame.length - 1 > maxBytes) {
    throw new SluiceError(
      "frame_too_large",
      `The message takes ${frame.length - 1} bytes, more than the ${maxBytes} that a line may have`,
      { data: { bytes: frame.length - 1, maxBytes } },
    );
  }
  return frame;
}
