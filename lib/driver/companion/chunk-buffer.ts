/** Pieces below this size are copied together; larger ones are kept as they are. */
export const SMALL_BYTES = 4 * 1024;
/** Small pieces are copied together up to this size. */
const PACK_BYTES = 64 * 1024;

/**
 * Bytes of a stream in order, held at most at twice their size.
 *
 * A piece is kept as a view only if it has 4 KiB or more and is at least half of the memory that it
 * keeps alive. Others are copied, small ones together in a buffer that doubles as it grows.
 */
export class ChunkBuffer {
  #chunks: Uint8Array[] = [];
  #head = 0;
  #bytes = 0;
  #cost = 0;
  /** How much of the last chunk is filled, when it is a buffer that takes more. */
  #filled: number | undefined;

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of memory that holding them costs; at most twice {@link ChunkBuffer.bytes}. */
  get cost(): number {
    return this.#cost;
  }

  /** Adds a piece; a view of it may be kept, so its bytes must stay as they are. */
  push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#bytes += piece.length;
    if (piece.length < SMALL_BYTES) return this.#pack(piece);
    this.#seal();
    const kept = piece.length * 2 >= piece.buffer.byteLength ? piece : piece.slice();
    this.#cost += kept.buffer.byteLength;
    this.#chunks.push(kept);
  }

  /** Takes the first chunk out. */
  shift(): Uint8Array | undefined {
    if (this.#head === this.#chunks.length - 1) this.#seal();
    const chunk = this.#chunks[this.#head];
    if (chunk === undefined) return undefined;
    this.#bytes -= chunk.length;
    this.#cost -= chunk.buffer.byteLength;
    this.#head += 1;
    if (this.#head * 2 >= this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
    return chunk;
  }

  /** Drops everything; returns how many bytes that were. */
  clear(): number {
    const dropped = this.#bytes;
    this.#chunks = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#cost = 0;
    this.#filled = undefined;
    return dropped;
  }

  #pack(piece: Uint8Array): void {
    const last = this.#chunks.length - 1;
    const filled = this.#filled;
    const target = filled === undefined ? undefined : this.#chunks[last];
    if (filled === undefined || target === undefined || filled + piece.length > PACK_BYTES) {
      this.#seal();
      this.#chunks.push(piece.slice());
      this.#cost += piece.length;
      this.#filled = piece.length;
      return;
    }
    const end = filled + piece.length;
    const pack = end <= target.length ? target : this.#grown(target, { filled, end });
    pack.set(piece, filled);
    this.#chunks[last] = pack;
    this.#filled = end;
  }

  #grown(pack: Uint8Array, { filled, end }: { filled: number; end: number }): Uint8Array {
    const grown = new Uint8Array(Math.min(PACK_BYTES, Math.max(end, pack.length * 2)));
    grown.set(pack.subarray(0, filled));
    this.#cost += grown.length - pack.length;
    return grown;
  }

  /** The last buffer takes no more: only its filled part counts. */
  #seal(): void {
    if (this.#filled === undefined) return;
    const last = this.#chunks.length - 1;
    this.#chunks[last] = this.#chunks[last]!.subarray(0, this.#filled);
    this.#filled = undefined;
  }
}
