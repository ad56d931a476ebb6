import type { JsonValue } from "../../json/value.ts";
import type { DataStream, IncomingStream } from "../companion/mod.ts";
import type { ObservationParams } from "../contract/observation.ts";

/** One observation of a run, as its consumer gets it. */
export interface Observation {
  /** Rises from observation to observation, gaps allowed. */
  readonly sequence: number;
  readonly kind: string;
  /** The driver's clock, in nanoseconds. */
  readonly monotonic_ns: number;
  /** Absent, or any JSON value, null included. */
  readonly payload?: JsonValue;
  /** Names the companion stream that carries this observation's data, where there is one. */
  readonly data_stream?: { readonly stream_id: string };
  /**
   * The bytes of that stream; absent without one. Take it (a reader, an iterator, a pipe) before asking
   * for the next observation: an untaken one is discarded then, and reads of it reject with `data_discarded`.
   */
  readonly data?: DataStream | undefined;
}

/** An observation with its stream; the ids are left out, which the run has. */
export class ReceivedObservation implements Observation {
  readonly sequence: number;
  readonly kind: string;
  readonly monotonic_ns: number;
  readonly payload?: JsonValue;
  readonly data_stream?: { readonly stream_id: string };
  readonly #stream: IncomingStream | undefined;

  constructor(params: ObservationParams, stream: IncomingStream | undefined) {
    const { sequence, kind, monotonic_ns, payload, data_stream } = params;
    this.sequence = sequence;
    this.kind = kind;
    this.monotonic_ns = monotonic_ns;
    if (payload !== undefined) this.payload = payload;
    if (data_stream !== undefined) this.data_stream = data_stream;
    this.#stream = stream;
  }

  get data(): DataStream | undefined {
    return this.#stream?.data;
  }

  /** The stream behind an observation's data. */
  static streamOf(observation: Observation | undefined): IncomingStream | undefined {
    return observation instanceof ReceivedObservation ? observation.#stream : undefined;
  }
}
