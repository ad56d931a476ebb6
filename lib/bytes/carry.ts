/** First capacity, and the most that is kept for reuse after {@link Carry.clear}. */
const FIRST_CAPACITY = 256;
const KEPT_CAPACITY = 64 * 1024;

/**
 * The bytes of a frame whose end has not come yet, in one buffer that doubles as it grows.
 *
 * Each byte is copied in once, and all growth together copies fewer than two bytes for each one
 * held; the bound is checked before anything is copied or allocated.
 */
export class Carry {
  /** Most bytes it holds. */
  readonly maximum: number;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #length = 0;

  /** @param maximum Most bytes it holds, a whole number. */
  constructor(maximum: number) {
    this.maximum = maximum;
  }

  /** Bytes held. */
  get length(): number {
    return this.#length;
  }

  /** Adds a copy of `bytes`; returns false, with nothing changed, when they would pass the maximum. */
  append(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.maximum) return false;
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** What is held, as a view that the next {@link append} or {@link clear} spoils. */
  view(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Drops what is held, and a large buffer with it. */
  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_CAPACITY) this.#buffer = new Uint8Array(0);
  }

  #grow(needed: number): void {
    const doubled = Math.max(needed, this.#buffer.length * 2, FIRST_CAPACITY);
    const grown = new Uint8Array(Math.min(doubled, this.maximum));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
