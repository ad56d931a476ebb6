import type { DataStream } from "../../lib/driver/companion/mod.ts";
import type { Observation } from "../../lib/driver/session/observation.ts";
import { type SluiceError, toSluiceError } from "../../lib/errors.ts";
import { createDataFile, type DataFile } from "./data-file.ts";

/** Streams that are read side by side; the next observation waits for one of them to end. */
const MAX_OPEN = 64;

/** What came as one data stream. */
export interface DataResult {
  readonly sequence: number;
  readonly streamId: string;
  readonly bytes: number;
  /** Undefined when it did not come whole. */
  readonly digest: string | undefined;
  /** Where it was kept. */
  readonly file: string | undefined;
  /** Why it did not come whole, or could not be kept. */
  readonly error: SluiceError | undefined;
}

/** Where the streams of a step go. */
export interface DataSinkSetup {
  readonly operation: string;
  /** Keeps each stream in a file of this folder. Default: they are counted and dropped. */
  readonly folder: string | undefined;
  /** Told of each stream that has ended. */
  readonly onData: (data: DataResult) => void;
}

/** Reads the data streams of one step, side by side, as fast as they are kept. */
export class DataSink {
  readonly #setup: DataSinkSetup;
  readonly #open: Map<Promise<void>, DataStream> = new Map();
  #streams = 0;
  #ended = 0;
  #fault: string | undefined;

  constructor(setup: DataSinkSetup) {
    this.#setup = setup;
  }

  /** Streams so far. */
  get streams(): number {
    return this.#streams;
  }

  /** Bytes so far. */
  get bytes(): number {
    let sum = this.#ended;
    for (const { length } of this.#open.values()) sum += length;
    return sum;
  }

  /** What was wrong with the first stream that did not come whole, or could not be kept. */
  get problem(): string | undefined {
    return this.#fault;
  }

  /** Takes an observation's stream. @returns A promise to wait for when many are open. */
  take({ sequence, data_stream, data }: Observation): Promise<void> | undefined {
    if (data === undefined) return undefined;
    this.#streams += 1;
    const reading = this.#read(data, { sequence, streamId: data_stream?.stream_id ?? "" }).then(
      (result) => {
        this.#open.delete(reading);
        this.#ended += result.bytes;
        if (result.error !== undefined) this.#fault ??= problemOf(result.streamId, result.error);
        this.#setup.onData(result);
      },
    );
    this.#open.set(reading, data);
    return this.#open.size < MAX_OPEN ? undefined : Promise.race(this.#open.keys());
  }

  /** Resolves once every stream has ended. */
  async finish(): Promise<void> {
    await Promise.all(this.#open.keys());
  }

  async #read(
    data: DataStream,
    name: { readonly sequence: number; readonly streamId: string },
  ): Promise<DataResult> {
    const { folder, operation } = this.#setup;
    let file: DataFile | undefined;
    let error: SluiceError | undefined;
    // Taken at once: with the next observation an untaken stream is discarded.
    const chunks = data.values();
    try {
      if (folder !== undefined) file = await createDataFile(folder, { operation, ...name });
      for await (const chunk of chunks) await file?.handle.appendFile(chunk);
    } catch (thrown) {
      error = toSluiceError(thrown, "data_not_kept", messageOf(thrown));
      await chunks.return?.(undefined).catch(() => {});
    }
    await file?.handle.close().catch(() => {});
    const { length: bytes, digest } = data;
    return { ...name, bytes, digest, file: file?.path, error };
  }
}

function problemOf(streamId: string, error: SluiceError): string {
  if (error.code !== "data_not_kept") return error.message;
  return `data stream ${JSON.stringify(streamId)} could not be kept: ${error.message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
