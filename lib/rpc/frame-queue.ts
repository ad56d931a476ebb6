/** A frame with the promise of whoever queued it. */
export interface QueuedFrame {
  readonly bytes: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Small frames are joined up to this size; a larger one goes alone, without a copy. */
const JOINED_BYTES = 64 * 1024;
/** Taken frames kept at the front of the array before it is cut, so that taking costs O(1) on average. */
const SLACK = 1024;

/** A first-in, first-out queue of frames that hands them out joined. */
export class FrameQueue {
  #frames: QueuedFrame[] = [];
  #head = 0;
  #bytes = 0;

  /** Frames waiting. */
  get size(): number {
    return this.#frames.length - this.#head;
  }

  /** Bytes waiting. */
  get bytes(): number {
    return this.#bytes;
  }

  push(frame: QueuedFrame): void {
    this.#frames.push(frame);
    this.#bytes += frame.bytes.length;
  }

  /** Takes the first frame and the following ones as long as they fit into one write. */
  take(): { readonly frames: readonly QueuedFrame[]; readonly bytes: Uint8Array } {
    let total = 0;
    let end = this.#head;
    for (; end < this.#frames.length; end += 1) {
      const size = this.#frames[end]?.bytes.length ?? 0;
      if (end > this.#head && total + size > JOINED_BYTES) break;
      total += size;
    }
    const frames = this.#frames.slice(this.#head, end);
    this.#head = end;
    this.#bytes -= total;
    const length = this.#frames.length;
    if (end === length || (end > SLACK && end * 2 > length)) {
      this.#frames = this.#frames.slice(this.#head);
      this.#head = 0;
    }
    return { frames, bytes: join(frames, total) };
  }

  /** Empties the queue and gives what was in it. */
  clear(): readonly QueuedFrame[] {
    const frames = this.#frames.slice(this.#head);
    this.#frames = [];
    this.#head = 0;
    this.#bytes = 0;
    return frames;
  }
}

function join(frames: readonly QueuedFrame[], total: number): Uint8Array {
  const [first] = frames;
  if (frames.length === 1 && first !== undefined) return first.bytes;
  const joined = new Uint8Array(total);
  let offset = 0;
  for (const { bytes } of frames) {
    joined.set(bytes, offset);
    offset += bytes.length;
  }
  return joined;
}
