import { SluiceError } from "../../lib/errors.ts";
import type { Stage } from "../../lib/stage/stage.ts";

/** A stage that turns each input into one output or fault, one output a batch; `last` comes at the end. */
export function each<I, O>(
  step: (input: I) => O | SluiceError,
  last: readonly O[] = [],
): Stage<I, O> {
  return {
    push(inputs, sink) {
      for (const input of inputs) {
        if (!sink.open) return;
        const output = step(input);
        if (output instanceof SluiceError) sink.fail(output);
        else sink.next([output]);
      }
    },
    end: (sink) => void (last.length > 0 && sink.next(last)),
  };
}

/** The fault that {@link script} reports. */
export const BAD = new SluiceError("bad", "Bad item");

/**
 * Reads scripts: each input is a text whose letters become outputs, in one batch up to the next
 * sign; "!" is a fault, "#" throws. `ran` collects the letters it looked at.
 */
export function script(ran: string[] = []): Stage<string, string> {
  return {
    push(inputs, sink) {
      let out: string[] = [];
      const flush = (): void => {
        if (out.length > 0) sink.next(out);
        out = [];
      };
      for (const letter of inputs.join("")) {
        if (!sink.open) return;
        ran.push(letter);
        if (!"!#".includes(letter)) out.push(letter);
        else flush();
        if (letter === "!") sink.fail(BAD);
        if (letter === "#") throw new Error("broken");
      }
      flush();
    },
    end(sink) {
      sink.next(["end"]);
    },
  };
}
