import { checkLimit } from "../limits.ts";
import { releasingGenerator } from "./releasing-generator.ts";
import { readSource, type Source, type SourceReader } from "./source.ts";

/** A step over a batch that may take its time; results stand at the places of their inputs. */
export type AsyncStep<T, U> = (batch: readonly T[]) => readonly U[] | Promise<readonly U[]>;

/** Options of {@link asyncStep}. */
export interface AsyncStepOptions {
  /** Most batches under way at a time. Default 16. */
  readonly inFlight?: number | undefined;
}

/**
 * Makes an asynchronous step a transform over iterables of batches.
 *
 * Results keep the order of the batches however long each takes. It is driven by pulls: nothing is
 * read before the first one, and between two pulls at most `inFlight` batches are under way. The
 * oldest result is delivered as soon as it is there, even while the source is silent. A failure of
 * the step or of the source is thrown in its place, after the results before it; nothing is started
 * after it is known. The source is released when the consumer stops or the step fails.
 *
 * @throws {RangeError} When `inFlight` is not a whole number from 1.
 */
export function asyncStep<T, U>(
  step: AsyncStep<T, U>,
  options: AsyncStepOptions = {},
): (source: Source<readonly T[]>) => AsyncGenerator<readonly U[], void, undefined> {
  const inFlight = checkLimit("inFlight", options.inFlight ?? 16);
  return (source) => {
    const run = new StepRun(step, inFlight);
    return releasingGenerator(run.results(source), () => readSource(source).release());
  };
}

/** A batch under way; `settled` never rejects. */
interface Started<U> {
  readonly result: Promise<readonly U[]>;
  readonly settled: Promise<undefined>;
}

/** What a read of the source came to. */
type Read<T> =
  | { readonly batch: readonly T[] }
  | { readonly ended: true }
  | { readonly failed: unknown };

class StepRun<T, U> {
  readonly #step: AsyncStep<T, U>;
  readonly #inFlight: number;
  readonly #started: Started<U>[] = [];
  #reading: Promise<Read<T>> | undefined;
  /** The step failed, or the source is at its end or failed: nothing more is read. */
  #over = false;
  #sourceOver = false;
  #failure: { readonly reason: unknown } | undefined;

  constructor(step: AsyncStep<T, U>, inFlight: number) {
    this.#step = step;
    this.#inFlight = inFlight;
  }

  async *results(source: Source<readonly T[]>): AsyncGenerator<readonly U[], void, undefined> {
    const reader = readSource(source);
    try {
      for (;;) {
        await this.#fill(reader);
        const oldest = this.#started.shift();
        if (oldest === undefined) break;
        yield await oldest.result;
      }
      if (this.#failure !== undefined) throw this.#failure.reason;
    } finally {
      await this.#release(reader);
    }
  }

  /** Starts batches until enough are under way, the oldest is done, or there are no more. */
  async #fill(reader: SourceReader<readonly T[]>): Promise<void> {
    while (!this.#over && this.#started.length < this.#inFlight) {
      this.#reading ??= read(reader);
      const oldest = this.#started[0];
      const next = await (oldest === undefined
        ? this.#reading
        : Promise.race([oldest.settled, this.#reading]));
      if (next === undefined) return;
      this.#reading = undefined;
      if ("batch" in next) {
        if (!this.#over) this.#start(next.batch);
      } else {
        this.#over = true;
        this.#sourceOver = true;
        if ("failed" in next) this.#failure = { reason: next.failed };
      }
    }
  }

  #start(batch: readonly T[]): void {
    const result = attempt(this.#step, batch);
    const settled = result.then(
      () => undefined,
      () => void (this.#over = true),
    );
    this.#started.push({ result, settled });
  }

  async #release(reader: SourceReader<readonly T[]>): Promise<void> {
    if (this.#sourceOver) return;
    const released = reader.release();
    // A source that is being read answers only after that read, which may never come to an end.
    if (this.#reading === undefined) await released;
    else released.catch(() => undefined);
  }
}

async function attempt<T, U>(step: AsyncStep<T, U>, batch: readonly T[]): Promise<readonly U[]> {
  return step(batch);
}

async function read<T>(reader: SourceReader<readonly T[]>): Promise<Read<T>> {
  try {
    const { done, value } = await reader.next();
    return done === true ? { ended: true } : { batch: value };
  } catch (error) {
    return { failed: error };
  }
}
