/**
 * Frames: bytes cut into lines or into blocks that follow their length, and back.
 *
 * Every function makes a stage (see `fuse()` and `toTransformStream()`), bounded in what it holds
 * and linear in cost however the bytes are cut into chunks.
 *
 * @module
 */
export { encodeLengthPrefixed } from "./encode-length-prefixed.ts";
export { encodeLines } from "./encode-lines.ts";
export type { LengthPrefix, LengthPrefixOptions } from "./length-prefix.ts";
export { lengthPrefixed } from "./length-prefixed.ts";
export type { LinesOptions } from "./line-rules.ts";
export { lines } from "./lines.ts";
