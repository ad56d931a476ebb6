import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical-json.ts";

/** An SHA-256 digest under way. */
export interface Sha256 {
  /**
   * Adds data, text as UTF-8.
   *
   * @throws {TypeError} When a text holds an unpaired surrogate, which UTF-8 cannot hold.
   * @throws {Error} After {@link Sha256.digestHex}.
   */
  update(data: string | Uint8Array): this;
  /** Ends the digest and returns its 64 lower-case hex digits; called once. */
  digestHex(): string;
}

/**
 * The digest of some bytes as the contracts write it.
 *
 * @param data Bytes, or text that is taken as UTF-8.
 * @returns `sha256:` and 64 lower-case hex digits.
 * @throws {TypeError} When a text holds an unpaired surrogate, which UTF-8 cannot hold.
 */
export function sha256Digest(data: string | Uint8Array): string {
  return `sha256:${bytesToHex(sha256(dataBytes(data)))}`;
}

/**
 * The digest of a value's canonical JSON text.
 *
 * @throws {SluiceError} As {@link canonicalJson} does.
 */
export function canonicalDigest(value: unknown): string {
  return sha256Digest(canonicalJson(value));
}

/** Starts an SHA-256 digest over data that comes in pieces. */
export function createSha256(): Sha256 {
  const hash = sha256.create();
  return {
    update(data) {
      hash.update(dataBytes(data));
      return this;
    },
    digestHex: () => bytesToHex(hash.digest()),
  };
}

function dataBytes(data: string | Uint8Array): Uint8Array {
  if (typeof data !== "string") return data;
  // The encoder would put U+FFFD in its place, and two texts would share one digest.
  if (!data.isWellFormed())
    throw new TypeError("A text to digest must not hold an unpaired surrogate");
  return new TextEncoder().encode(data);
}
