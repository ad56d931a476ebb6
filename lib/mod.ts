/**
 * The neutral core of sluice: stages and their faces, byte channels, schemas, errors, limits, time.
 * No module of it names a runtime.
 *
 * @module
 */
export { createClock, systemClock } from "./clock.ts";
export type { Clock, ClockSource, Timer, TimerOptions } from "./clock.ts";
export { isSluiceError, SluiceError } from "./errors.ts";
export type { SluiceErrorOptions } from "./errors.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
export type { LimitOptions, Limits } from "./limits.ts";
export { check, checkAsync } from "./schema/mod.ts";
export type { SchemaIssue, SchemaOutput } from "./schema/mod.ts";
export { asyncStep, collect, fuse, MAX_BATCH, toIterable, toTransformStream } from "./stage/mod.ts";
export type {
  AsyncStep,
  AsyncStepOptions,
  Collected,
  FaceItem,
  FaceOptions,
  FaceOutput,
  FaultMode,
  Sink,
  Source,
  Stage,
  StagePair,
} from "./stage/mod.ts";
export { duplexPair, toBytes, toText } from "./streams/mod.ts";
export type { ByteDuplex, DuplexPairOptions, ReadBounds } from "./streams/mod.ts";
