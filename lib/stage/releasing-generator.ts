/**
 * Mends what a generator leaves out: one that was never started runs no `finally`, so `return()` and
 * `throw()` before the first `next()` would leave its source open.
 *
 * @param generator Releases its own source once it was started.
 * @param release Releases the source of a generator that was not.
 */
export function releasingGenerator<O>(
  generator: AsyncGenerator<O, void, undefined>,
  release: () => Promise<void>,
): AsyncGenerator<O, void, undefined> {
  return new ReleasingGenerator(generator, release);
}

class ReleasingGenerator<O> implements AsyncGenerator<O, void, undefined> {
  readonly #generator: AsyncGenerator<O, void, undefined>;
  #release: (() => Promise<void>) | undefined;

  constructor(generator: AsyncGenerator<O, void, undefined>, release: () => Promise<void>) {
    this.#generator = generator;
    this.#release = release;
  }

  next(): Promise<IteratorResult<O, void>> {
    this.#release = undefined;
    return this.#generator.next();
  }

  async return(): Promise<IteratorResult<O, void>> {
    const ended = this.#generator.return();
    await this.#unstarted();
    return ended;
  }

  async throw(error: unknown): Promise<IteratorResult<O, void>> {
    const ended = this.#generator.throw(error);
    // Looked at below; without this a slow release would let it count as unhandled.
    ended.catch(() => undefined);
    await this.#unstarted();
    return ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #unstarted(): Promise<void> {
    const release = this.#release;
    this.#release = undefined;
    await release?.();
  }
}
