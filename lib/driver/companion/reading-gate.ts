/** Holds up the reading of a channel while anything that it feeds is full. */
export class ReadingGate {
  readonly #changed: () => void;
  readonly #full: Set<object> = new Set();
  #released = false;
  #opening: PromiseWithResolvers<void> | undefined;

  /** @param changed Called when reading pauses or goes on. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether nothing holds reading up. */
  get open(): boolean {
    return this.#released || this.#full.size === 0;
  }

  /** Lets reading go on for good, whatever is full. */
  release(): void {
    this.#released = true;
    this.#opening?.resolve();
    this.#opening = undefined;
    this.#changed();
  }

  /** Says whether a receiver holds reading up. */
  hold(receiver: object, full: boolean): void {
    if (this.#full.has(receiver) === full) return;
    const before = this.open;
    if (full) this.#full.add(receiver);
    else this.#full.delete(receiver);
    if (this.open === before) return;
    if (this.open) {
      this.#opening?.resolve();
      this.#opening = undefined;
    }
    this.#changed();
  }

  /** Nothing to wait for when open; else resolves once it is. */
  wait(): Promise<void> | undefined {
    if (this.open) return undefined;
    this.#opening ??= Promise.withResolvers<void>();
    return this.#opening.promise;
  }
}
