/** What the pull faces read from. */
export type Source<I> = Iterable<I> | AsyncIterable<I>;

/** One reading of a {@link Source}, synchronous or not. */
export interface SourceReader<I> {
  next(): Promise<IteratorResult<I, unknown>>;
  /** Tells the source that nothing more is wanted; does nothing for one that cannot be told. */
  release(): Promise<void>;
}

/** Starts to read a source. */
export function readSource<I>(source: Source<I>): SourceReader<I> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  return {
    next: async () => iterator.next(),
    release: async () => {
      await iterator.return?.();
    },
  };
}
