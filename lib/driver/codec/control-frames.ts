import { isSluiceError, type SluiceError } from "../../errors.ts";
import { lines } from "../../frames/lines.ts";
import { parseJson } from "../../json/parse-json.ts";
import { fuse } from "../../stage/fuse.ts";
import type { Sink, Stage } from "../../stage/stage.ts";
import { MAX_CONTROL_FRAME_BYTES } from "../contract/frame-size.ts";
import { CheckedMessage } from "./checked-message.ts";
import { frameFault } from "./frame-fault.ts";

/**
 * A stage from bytes to checked messages: driver protocol v1 §2 to §6 and §8.
 *
 * A bad frame consumes exactly its line and is a {@link ProtocolError} in place; the next line follows.
 */
export function controlFrames(): Stage<Uint8Array, CheckedMessage> {
  const splitter = lines({
    maxBytes: MAX_CONTROL_FRAME_BYTES,
    empty: "fault",
    carriageReturn: "fault",
  });
  return fuse(new ClassifiedFaults(splitter), new MessageStage());
}

/** Gives the faults of the line splitter their class. */
class ClassifiedFaults implements Stage<Uint8Array, string> {
  readonly #inner: Stage<Uint8Array, string>;
  readonly #sink: ClassifyingSink = new ClassifyingSink();

  constructor(inner: Stage<Uint8Array, string>) {
    this.#inner = inner;
  }

  push(inputs: readonly Uint8Array[], sink: Sink<string>): void {
    this.#sink.outer = sink;
    this.#inner.push(inputs, this.#sink);
  }

  end(sink: Sink<string>): void {
    this.#sink.outer = sink;
    this.#inner.end(this.#sink);
  }
}

class ClassifyingSink implements Sink<string> {
  outer!: Sink<string>;

  get open(): boolean {
    return this.outer.open;
  }

  next(outputs: readonly string[]): void {
    this.outer.next(outputs);
  }

  fail(fault: SluiceError): void {
    this.outer.fail(frameFault(fault));
  }
}

class MessageStage implements Stage<string, CheckedMessage> {
  push(inputs: readonly string[], sink: Sink<CheckedMessage>): void {
    let made: CheckedMessage[] = [];
    for (const line of inputs) {
      if (!sink.open) return;
      try {
        made.push(CheckedMessage.of(parseJson(line), line.length));
      } catch (error) {
        if (!isSluiceError(error)) throw error;
        if (made.length > 0) sink.next(made);
        made = [];
        sink.fail(frameFault(error, line));
      }
    }
    if (made.length > 0) sink.next(made);
  }

  end(): void {}
}
