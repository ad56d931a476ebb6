import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";

/** How the length before each frame is written. */
export type LengthPrefix = "uvarint" | "u32be" | "u32le";

/** Options of `lengthPrefixed()` and `encodeLengthPrefixed()`. */
export interface LengthPrefixOptions {
  /**
   * `uvarint` (LEB128 without sign, in its shortest form), or four bytes, big or little end first.
   * Default "uvarint".
   */
  readonly prefix?: LengthPrefix | undefined;
  /** Most bytes of a frame without its prefix. Default 256 KiB (`dataFrameBytes`). */
  readonly maxBytes?: number | undefined;
  /** Most bytes of a uvarint prefix, 1 to 8; only for "uvarint". Default 8. */
  readonly maxPrefixBytes?: number | undefined;
}

/** {@link LengthPrefixOptions} checked and with every default filled in. */
export interface PrefixRules {
  readonly prefix: LengthPrefix;
  readonly maxBytes: number;
  readonly maxPrefixBytes: number;
}

/** The longest uvarint whose parts add up without rounding to something below 2^53. */
const MAX_UVARINT_BYTES = 8;
const U32_BYTES = 4;

/**
 * Fills in the defaults.
 *
 * @throws {RangeError} When a limit is not a whole number from 1, or `maxBytes` is more than the prefix can say.
 * @throws {TypeError} When the prefix is unknown, or `maxPrefixBytes` comes with a fixed prefix.
 */
export function resolvePrefixRules(options: LengthPrefixOptions): PrefixRules {
  const prefix = options.prefix ?? "uvarint";
  if (prefix !== "uvarint" && prefix !== "u32be" && prefix !== "u32le") {
    throw new TypeError(`prefix must be one of uvarint, u32be, u32le, got ${String(prefix)}`);
  }
  if (prefix !== "uvarint" && options.maxPrefixBytes !== undefined) {
    throw new TypeError(`maxPrefixBytes goes with the prefix uvarint only, got it with ${prefix}`);
  }
  const longest = prefix === "uvarint" ? MAX_UVARINT_BYTES : U32_BYTES;
  const maxPrefixBytes = checkLimit("maxPrefixBytes", options.maxPrefixBytes ?? longest, longest);
  const largest = prefix === "uvarint" ? 2 ** (7 * maxPrefixBytes) - 1 : 2 ** 32 - 1;
  const maxBytes = options.maxBytes ?? DEFAULT_LIMITS.dataFrameBytes;
  return {
    prefix,
    maxPrefixBytes,
    maxBytes: checkLimit("maxBytes", maxBytes, Math.min(largest, Number.MAX_SAFE_INTEGER)),
  };
}

/** Bytes of the prefix of a frame of `length` bytes. */
export function prefixSize(rules: PrefixRules, length: number): number {
  if (rules.prefix !== "uvarint") return U32_BYTES;
  let size = 1;
  for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

/** Writes the prefix of a frame of `length` bytes to the start of `target`; returns its size. */
export function writePrefix(rules: PrefixRules, length: number, target: Uint8Array): number {
  const size = prefixSize(rules, length);
  let rest = length;
  for (let k = 0; k < size; k += 1) {
    if (rules.prefix === "uvarint") {
      target[k] = k < size - 1 ? (rest % 0x80) | 0x80 : rest;
      rest = Math.floor(rest / 0x80);
    } else {
      target[rules.prefix === "u32be" ? size - 1 - k : k] = rest % 0x100;
      rest = Math.floor(rest / 0x100);
    }
  }
  return size;
}
