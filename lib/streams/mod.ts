/**
 * Streams: reading a byte stream to its end under a bound, and a connected pair in memory.
 *
 * @module
 */
export type { ByteDuplex } from "./duplex.ts";
export { duplexPair, type DuplexPairOptions } from "./duplex-pair.ts";
export type { ReadBounds } from "./read-bounded.ts";
export { toBytes } from "./to-bytes.ts";
export { toText } from "./to-text.ts";
