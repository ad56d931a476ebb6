import type { FaceOptions, FaceOutput, FaultMode } from "./face-options.ts";
import { FaceSink } from "./face-sink.ts";
import { releasingGenerator } from "./releasing-generator.ts";
import { readSource, type Source } from "./source.ts";
import type { Stage } from "./stage.ts";

/**
 * Makes a stage a transform over iterables, as `it-pipe` and `for await` take them.
 *
 * It is driven by pulls and holds the outputs of one input at most. After a fault (with
 * `faults: "error"`) or a throw of the stage, everything made before it is delivered, then it is
 * thrown. The source is released (its `return()` called) when the consumer returns or throws, also
 * before the first pull, and when the stage fails.
 *
 * @param stage Used for one source alone, as it holds state.
 * @returns A function from a source to an async generator.
 * @throws {TypeError} When an option is wrong; from the function, when it is called a second time.
 */
export function toIterable<I, O, B extends boolean = false, F extends FaultMode = "error">(
  stage: Stage<I, O>,
  options: FaceOptions<B, F> = {},
): (source: Source<I>) => AsyncGenerator<FaceOutput<O, B, F>, void, undefined> {
  const sink = new FaceSink(stage, options);
  let used = false;
  return (source) => {
    if (used) throw new TypeError("What toIterable() returns takes one source and has had it");
    used = true;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the options say what the sink holds
    const outputs = run(sink, source) as AsyncGenerator<FaceOutput<O, B, F>, void, undefined>;
    return releasingGenerator(outputs, () => readSource(source).release());
  };
}

async function* run<I, O>(
  sink: FaceSink<I, O>,
  source: Source<I>,
): AsyncGenerator<unknown, void, undefined> {
  try {
    for await (const input of source) {
      sink.push(input);
      for (const item of sink.take()) yield item;
      if (sink.failure !== undefined) throw sink.failure.reason;
    }
    sink.end();
    for (const item of sink.take()) yield item;
    if (sink.failure !== undefined) throw sink.failure.reason;
  } finally {
    sink.close();
  }
}
