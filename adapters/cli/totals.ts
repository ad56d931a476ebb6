import type { Amount } from "./format.ts";
import type { DataTotals, SessionOutcome, StepResult } from "./session-types.ts";

/** What passed in some operations, beside the control pipe too. */
export interface Totals extends Amount {
  readonly data: DataTotals & { readonly milliseconds: number };
}

/** What all operations of a session took together; the time of `data` is that of those which had some. */
export function totals({ results }: Pick<SessionOutcome, "results">): Totals {
  const sum = (of: (result: StepResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  return {
    observations: sum(({ observations }) => observations),
    bytes: sum(({ bytes }) => bytes),
    milliseconds: sum(({ milliseconds }) => milliseconds),
    data: {
      streams: sum(({ data }) => data.streams),
      in: sum(({ data }) => data.in),
      out: sum(({ data }) => data.out),
      milliseconds: sum(({ data, milliseconds }) => (hasData(data) ? milliseconds : 0)),
    },
  };
}

/** Whether anything passed beside the control pipe. */
export function hasData(data: DataTotals): boolean {
  return data.streams > 0 || data.out > 0;
}
