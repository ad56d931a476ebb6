import type { SluiceError } from "../errors.ts";
import { MAX_BATCH } from "../stage/stage.ts";
import type { Sink, Stage } from "../stage/stage.ts";

/**
 * A stage with one output for each input, where a step that throws may leave a fault in its place.
 *
 * @param step Makes the output.
 * @param faultOf Turns what the step threw into a fault, or gives undefined to make it fatal.
 */
export function mapStage<I, O>(
  step: (input: I) => O,
  faultOf: (thrown: unknown) => SluiceError | undefined,
): Stage<I, O> {
  return {
    push(inputs, sink) {
      let batch: O[] = [];
      const flush = (): void => {
        if (batch.length === 0) return;
        const full = batch;
        batch = [];
        sink.next(full);
      };
      for (const input of inputs) {
        if (!sink.open) return;
        try {
          batch.push(step(input));
        } catch (thrown) {
          flush();
          failOrThrow(thrown, faultOf(thrown), sink);
          continue;
        }
        if (batch.length === MAX_BATCH) flush();
      }
      flush();
    },
    end() {},
  };
}

function failOrThrow(thrown: unknown, fault: SluiceError | undefined, sink: Sink<unknown>): void {
  if (fault === undefined) throw thrown;
  if (sink.open) sink.fail(fault);
}
