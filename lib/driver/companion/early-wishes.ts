/** What the receiver said about a stream. */
export interface Wish {
  /** Bytes granted. */
  readonly credit: number;
  /** Whether it wants nothing more. */
  readonly stopped: boolean;
}

/**
 * What the receiver said about streams that are not being sent: it may be told of a stream before its
 * sender has the source at hand. Bounded, the oldest goes first.
 */
export class EarlyWishes {
  readonly #limit: number;
  readonly #wishes: Map<string, Wish> = new Map();

  /** @param limit How many streams are remembered. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(key: string, { credit, stopped }: Wish): void {
    const before = this.#wishes.get(key);
    this.#wishes.set(key, {
      credit: credit + (before?.credit ?? 0),
      stopped: stopped || before?.stopped === true,
    });
    if (this.#wishes.size > this.#limit) this.#wishes.delete(this.#wishes.keys().next().value!);
  }

  /** What was said about a stream, once. */
  take(key: string): Wish | undefined {
    const wish = this.#wishes.get(key);
    this.#wishes.delete(key);
    return wish;
  }
}
