import type { JsonValue } from "../../json/value.ts";
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
  /** The companion stream that carries this observation's data, where the driver named one. */
  readonly data_stream?: { readonly stream_id: string };
}

/** Leaves out the ids, which the run has. */
export function observationOf(params: ObservationParams): Observation {
  const { sequence, kind, monotonic_ns, payload, data_stream } = params;
  return {
    sequence,
    kind,
    monotonic_ns,
    ...(payload !== undefined && { payload }),
    ...(data_stream !== undefined && { data_stream }),
  };
}
