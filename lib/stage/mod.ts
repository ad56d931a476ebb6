/**
 * Stages: synchronous steps over batches, joined without queues, and the faces they show to web
 * streams and to iterables.
 *
 * @module
 */
export { asyncStep, type AsyncStep, type AsyncStepOptions } from "./async-step.ts";
export { collect, type Collected } from "./collect.ts";
export type { FaceItem, FaceOptions, FaceOutput, FaultMode } from "./face-options.ts";
export { fuse } from "./fuse.ts";
export type { Source } from "./source.ts";
export { MAX_BATCH, type Sink, type Stage } from "./stage.ts";
export { toIterable } from "./to-iterable.ts";
export { type StagePair, toTransformStream } from "./to-transform-stream.ts";
