import type { PrefixRules } from "./length-prefix.ts";

/** Reads one length prefix after the other, byte by byte, across chunks. */
export interface PrefixReader {
  /** Bytes of the prefix under way, 0 between two prefixes. */
  readonly size: number;
  /** The length, once `read` said "done", until the next call. */
  readonly value: number;
  /** Takes the next byte. */
  read(byte: number): "more" | "done" | "bad";
}

/** Makes the reader for the prefix of `rules`. */
export function createPrefixReader(rules: PrefixRules): PrefixReader {
  if (rules.prefix === "uvarint") return new UvarintReader(rules.maxPrefixBytes);
  return new U32Reader(rules.prefix === "u32be");
}

class UvarintReader implements PrefixReader {
  size = 0;
  value = 0;
  #scale = 1;
  readonly #longest: number;

  constructor(longest: number) {
    this.#longest = longest;
  }

  read(byte: number): "more" | "done" | "bad" {
    if (this.size === 0) {
      this.value = 0;
      this.#scale = 1;
    }
    // Multiplied, not shifted: shifts end at 32 bits.
    this.value += (byte & 0x7f) * this.#scale;
    this.#scale *= 0x80;
    this.size += 1;
    if (byte >= 0x80) return this.size < this.#longest ? "more" : "bad";
    if (byte === 0 && this.size > 1) return "bad";
    this.size = 0;
    return "done";
  }
}

class U32Reader implements PrefixReader {
  size = 0;
  value = 0;
  readonly #bigEnd: boolean;

  constructor(bigEnd: boolean) {
    this.#bigEnd = bigEnd;
  }

  read(byte: number): "more" | "done" | "bad" {
    if (this.size === 0) this.value = 0;
    this.value = this.#bigEnd ? this.value * 0x100 + byte : this.value + byte * 0x100 ** this.size;
    this.size += 1;
    if (this.size < 4) return "more";
    this.size = 0;
    return "done";
  }
}
