import type { DriverEnd } from "../../lib/driver/session/driver.ts";
import { bytes, count, counted, dataFigures, seconds, throughput } from "./format.ts";
import type { SessionOutcome, StepResult } from "./session-types.ts";
import { hasData, totals } from "./totals.ts";

const LABEL_WIDTH = 14;
/** Most states shown at each end of the list. */
const STATES_SHOWN = 8;

/** One row: a label, and its value in the second column. */
export function row(label: string, value: string): string {
  return `${label.padEnd(LABEL_WIDTH)}${value}`.trimEnd();
}

/** The closing table of a session that had a driver: labels and values. */
export function summaryTable(outcome: SessionOutcome): readonly (readonly [string, string])[] {
  const { stats, steps, results, driver, states } = outcome;
  const total = totals(outcome);
  const width = Math.min(24, Math.max(0, ...steps.map(({ operation }) => operation.length)));
  return [
    ["Driver", driver === undefined ? "unknown" : `${driver.name} ${driver.version}`],
    ...steps.map(
      ({ operation }, index) =>
        [
          index === 0 ? "Operations" : "",
          `${operation.padEnd(width)}  ${operationResult(results[index])}`,
        ] as const,
    ),
    ["Observations", count(total.observations)],
    ["Frames", `${count(stats?.framesIn ?? 0)} in, ${count(stats?.framesOut ?? 0)} out`],
    ["Bytes", `${count(stats?.bytesIn ?? 0)} in, ${count(stats?.bytesOut ?? 0)} out`],
    ["Throughput", throughput(total)],
    ...(hasData(total.data) ? [["Data", dataFigures(total.data)] as const] : []),
    ["States", statesPassed(states)],
    ["Exit", exitOf(outcome.end)],
    ["Ended by", endedBy(outcome)],
  ];
}

function operationResult(result: StepResult | undefined): string {
  if (result === undefined) return "not run";
  const status = (result.completion?.status ?? "failed").padEnd(9);
  const figures = [
    counted(result.observations, "observation"),
    bytes(result.bytes),
    seconds(result.milliseconds),
    ...(hasData(result.data)
      ? [`data ${dataFigures({ ...result.data, milliseconds: result.milliseconds })}`]
      : []),
  ];
  return `${status}  ${figures.join(", ")}${result.problem === undefined ? "" : "; not as expected"}`;
}

function statesPassed(states: readonly string[]): string {
  if (states.length <= 2 * STATES_SHOWN) return states.join(" → ");
  const left = states.length - 2 * STATES_SHOWN;
  const ends = [states.slice(0, STATES_SHOWN), states.slice(-STATES_SHOWN)];
  return ends.map((part) => part.join(" → ")).join(` → (${left} more) → `);
}

function exitOf(end: DriverEnd | undefined): string {
  const exit = end?.exit;
  if (exit === null) return "could not be ended";
  if (exit === undefined) return "unknown";
  return exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
}

function endedBy({ end, stop }: SessionOutcome): string {
  const rungs = end?.rungs ?? [];
  const taken = rungs.length === 0 ? "itself" : rungs.join(" → ");
  return stop === undefined ? taken : `${taken} (stopped by ${stop.name})`;
}
