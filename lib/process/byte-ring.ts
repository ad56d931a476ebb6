/** Keeps the last `capacity` bytes of a flow; memory is taken as it fills. */
export class ByteRing {
  readonly #capacity: number;
  #store: Uint8Array<ArrayBuffer>;
  #seen = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#store = new Uint8Array(Math.min(capacity, 1024));
  }

  /** Bytes pushed so far, kept or not. */
  get seen(): number {
    return this.#seen;
  }

  /** Takes bytes in; the oldest ones give way. */
  push(bytes: Uint8Array): void {
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#capacity));
    this.#grow(this.#seen + bytes.length);
    const at = (this.#seen + bytes.length - kept.length) % this.#capacity;
    const first = kept.subarray(0, this.#capacity - at);
    this.#store.set(first, at);
    this.#store.set(kept.subarray(first.length), 0);
    this.#seen += bytes.length;
  }

  /** Copies what is kept, oldest first. */
  toBytes(): Uint8Array<ArrayBuffer> {
    if (this.#seen <= this.#capacity) return this.#store.slice(0, this.#seen);
    const at = this.#seen % this.#capacity;
    const bytes = new Uint8Array(this.#capacity);
    bytes.set(this.#store.subarray(at), 0);
    bytes.set(this.#store.subarray(0, at), this.#capacity - at);
    return bytes;
  }

  #grow(needed: number): void {
    const wanted = Math.min(needed, this.#capacity);
    if (wanted <= this.#store.length) return;
    // Doubling keeps the cost linear; the store wraps only once it has its full size.
    const store = new Uint8Array(
      Math.min(this.#capacity, Math.max(wanted, 2 * this.#store.length)),
    );
    store.set(this.#store);
    this.#store = store;
  }
}
