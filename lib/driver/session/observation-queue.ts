import type { SluiceError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";

/** The bounds of an {@link ObservationQueue}: counts and bytes (of the frames' texts). */
export interface QueueBounds {
  /** From here on the queue is full: reading may pause. */
  readonly fullCount: number;
  readonly fullBytes: number;
  /** Over this it is overfull: something must give. */
  readonly aheadCount: number;
  readonly aheadBytes: number;
}

/** The bounds that a session's limits set. */
export function queueBounds(limits: Limits): QueueBounds {
  return {
    fullCount: limits.runQueueCount,
    fullBytes: limits.runQueueBytes,
    aheadCount: limits.aheadCount,
    aheadBytes: limits.aheadBytes,
  };
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** What waits between the session and one consumer, in order, with its end behind it. */
export class ObservationQueue<T> {
  readonly #bounds: QueueBounds;
  #items: { readonly value: T; readonly bytes: number }[] = [];
  #head = 0;
  #bytes = 0;
  #waiters: Waiter<T>[] = [];
  #end: { readonly error?: SluiceError } | undefined;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  get full(): boolean {
    return this.size >= this.#bounds.fullCount || this.#bytes >= this.#bounds.fullBytes;
  }

  get overfull(): boolean {
    return this.size > this.#bounds.aheadCount || this.#bytes > this.#bounds.aheadBytes;
  }

  /** Whether a consumer waits for the next item. */
  get awaited(): boolean {
    return this.#waiters.length > 0;
  }

  push(value: T, bytes: number): void {
    if (this.#end !== undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) return waiter.resolve({ done: false, value });
    this.#items.push({ value, bytes });
    this.#bytes += bytes;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#take();
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    if (this.#end?.error !== undefined) return Promise.reject(this.#end.error);
    if (this.#end !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** What is queued stays readable, then comes the end; only the first end counts. */
  end(error?: SluiceError): void {
    if (this.#end !== undefined) return;
    this.#end = error === undefined ? {} : { error };
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { resolve, reject } of waiters) {
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    }
  }

  /** Drops what is queued and returns how many items that were. */
  clear(): number {
    const dropped = this.size;
    this.#items = [];
    this.#head = 0;
    this.#bytes = 0;
    return dropped;
  }

  #take(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    this.#bytes -= item.bytes;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item.value;
  }
}
