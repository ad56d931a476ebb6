import type { SluiceError } from "../errors.ts";

/** What a face does with faults. */
export type FaultMode = "error" | "skip" | "emit";

/** How a stage's outputs and faults leave a face (`toTransformStream()`, `toIterable()`). */
export interface FaceOptions<B extends boolean = boolean, F extends FaultMode = FaultMode> {
  /** True for arrays of outputs as the stage makes them, false for single outputs. Default false. */
  readonly batch?: B | undefined;
  /**
   * "error": what was made before the fault is delivered, then the face errors with it.
   * "skip": `onFault` is called and the work goes on. "emit": the fault is delivered in its place
   * among the outputs, in an array of its own with `batch`. Default "error".
   */
  readonly faults?: F | undefined;
  /** Called with each fault that is skipped; only for "skip". What it throws ends the face. */
  readonly onFault?: ((fault: SluiceError) => void) | undefined;
}

/** What a face delivers: outputs `O` or arrays of them, faults among them where they are emitted. */
export type FaceOutput<O, B extends boolean, F extends FaultMode> = B extends true
  ? readonly FaceItem<O, F>[]
  : FaceItem<O, F>;

/** One output, or also a fault where they are emitted. */
export type FaceItem<O, F extends FaultMode> = "emit" extends F ? O | SluiceError : O;
