import { errorClassOf } from "../../lib/driver/contract/protocol-error.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { Observation } from "../../lib/driver/session/observation.ts";
import type { SluiceError } from "../../lib/errors.ts";
import type { DataResult } from "./data-sink.ts";
import { rates } from "./format.ts";
import { printable } from "./printable.ts";
import type { Reporter } from "./reporter.ts";
import type { Secrets } from "./secrets.ts";
import type { SessionOutcome, Step, StepResult } from "./session-types.ts";
import { totals } from "./totals.ts";
import type { Terminal } from "./terminal.ts";

/** One JSON object a line: `identity`, `prepared`, `observation` and `data` …, `completed` …, and always `end`. */
export class JsonReporter implements Reporter {
  readonly #terminal: Terminal;
  readonly #secrets: Secrets;

  constructor(terminal: Terminal, secrets: Secrets) {
    this.#terminal = terminal;
    this.#secrets = secrets;
  }

  identified({ identity, version, capabilities, requestedPermissions, pid }: Driver): void {
    void this.#emit({
      type: "identity",
      identity,
      version,
      capabilities,
      requested_permissions: requestedPermissions,
      pid,
    });
  }

  prepared(permissions: readonly string[]): void {
    void this.#emit({ type: "prepared", permissions });
  }

  started(): void {}

  observed({ operation }: Step, observation: Observation): Promise<void> | undefined {
    return this.#emit({ type: "observation", operation, ...observation });
  }

  data({ operation }: Step, { sequence, streamId, bytes, digest, file, error }: DataResult): void {
    void this.#emit({
      type: "data",
      operation,
      sequence,
      stream_id: streamId,
      bytes,
      digest: digest ?? null,
      file,
      error: error && this.#error(error),
    });
  }

  completed(result: StepResult): void {
    const { operation, invocationId, completion, observations } = result;
    void this.#emit({
      type: "completed",
      operation,
      invocation_id: invocationId,
      status: completion?.status ?? null,
      summary_digest: completion?.summary_digest,
      last_sequence: completion?.last_sequence,
      cancelled: completion?.cancelled && this.#error(completion.cancelled),
      error: result.error && this.#error(result.error),
      ok: result.problem === undefined,
      problem: result.problem && this.#secrets.hide(result.problem),
      observations,
      bytes: result.bytes,
      data: result.data,
      milliseconds: Math.round(result.milliseconds),
    });
  }

  ended(outcome: SessionOutcome): void {
    const { exitCode, stop, failure, states, permissions, stats, end } = outcome;
    const { observationsPerSecond, megabytesPerSecond } = rates(totals(outcome));
    void this.#emit({
      type: "end",
      ok: exitCode === 0,
      stopped: stop?.name,
      error: failure && this.#error(failure),
      operations: outcome.steps.map(({ operation }, index) => ({
        operation,
        status: outcome.results[index]?.completion?.status ?? null,
      })),
      states,
      permissions,
      frames: stats && { in: stats.framesIn, out: stats.framesOut },
      bytes: stats && { in: stats.bytesIn, out: stats.bytesOut },
      data: totals(outcome).data,
      noise_lines: stats?.noiseLines,
      observations: totals(outcome).observations,
      observations_per_second: observationsPerSecond,
      megabytes_per_second: megabytesPerSecond,
      exit: end?.exit ?? null,
      rungs: end?.rungs,
    });
  }

  #error(error: SluiceError): object {
    const { code, message } = error;
    return { code, class: errorClassOf(error), message: this.#secrets.hide(message) };
  }

  #emit(event: object): Promise<void> | undefined {
    return this.#terminal.line(printable(this.#secrets.hideToken(JSON.stringify(event))));
  }
}
