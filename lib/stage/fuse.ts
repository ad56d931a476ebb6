import type { SluiceError } from "../errors.ts";
import type { Sink, Stage } from "./stage.ts";

/**
 * Joins stages into one, without a queue between them: what a stage hands on is pushed straight
 * into the next, and faults pass the later stages in place.
 *
 * @returns A stage from the first one's input to the last one's output.
 */
export function fuse<A, B>(a: Stage<A, B>): Stage<A, B>;
export function fuse<A, B, C>(a: Stage<A, B>, b: Stage<B, C>): Stage<A, C>;
export function fuse<A, B, C, D>(a: Stage<A, B>, b: Stage<B, C>, c: Stage<C, D>): Stage<A, D>;
export function fuse<A, B, C, D, E>(
  a: Stage<A, B>,
  b: Stage<B, C>,
  c: Stage<C, D>,
  d: Stage<D, E>,
): Stage<A, E>;
export function fuse<A, B, C, D, E, F>(
  a: Stage<A, B>,
  b: Stage<B, C>,
  c: Stage<C, D>,
  d: Stage<D, E>,
  e: Stage<E, F>,
): Stage<A, F>;
export function fuse(...stages: Stage<never, unknown>[]): Stage<never, unknown> {
  if (stages.length === 0) throw new TypeError("fuse() needs at least one stage");
  return (stages as Stage<unknown, unknown>[]).reduceRight((rest, stage) => new Fused(stage, rest));
}

class Fused<I, M, O> implements Stage<I, O> {
  readonly #first: Stage<I, M>;
  readonly #inner: InnerSink<M, O>;

  constructor(first: Stage<I, M>, rest: Stage<M, O>) {
    this.#first = first;
    this.#inner = new InnerSink(rest);
  }

  push(inputs: readonly I[], sink: Sink<O>): void {
    this.#inner.outer = sink;
    this.#first.push(inputs, this.#inner);
  }

  end(sink: Sink<O>): void {
    this.#inner.outer = sink;
    this.#first.end(this.#inner);
    if (sink.open) this.#inner.rest.end(sink);
  }
}

/** Bound once per joint; only the outermost sink changes from call to call. */
class InnerSink<M, O> implements Sink<M> {
  readonly rest: Stage<M, O>;
  outer!: Sink<O>;

  constructor(rest: Stage<M, O>) {
    this.rest = rest;
  }

  get open(): boolean {
    return this.outer.open;
  }

  /** After a stop nothing goes on, whether the stage before looked at `open` or not. */
  next(outputs: readonly M[]): void {
    if (this.outer.open) this.rest.push(outputs, this.outer);
  }

  fail(fault: SluiceError): void {
    if (this.outer.open) this.outer.fail(fault);
  }
}
