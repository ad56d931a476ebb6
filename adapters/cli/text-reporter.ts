import type { Capabilities } from "../../lib/driver/contract/capabilities.ts";
import { TerminalStatus } from "../../lib/driver/contract/completed.ts";
import type { Driver } from "../../lib/driver/session/driver.ts";
import type { Observation } from "../../lib/driver/session/observation.ts";
import type { DataResult } from "./data-sink.ts";
import { bytes, counted, dataFigures, seconds } from "./format.ts";
import { printable } from "./printable.ts";
import { Progress } from "./progress.ts";
import type { Reporter } from "./reporter.ts";
import type { Secrets } from "./secrets.ts";
import type { SessionOutcome, Step, StepResult } from "./session-types.ts";
import { row, summaryTable } from "./summary-table.ts";
import type { Terminal } from "./terminal.ts";
import { hasData } from "./totals.ts";

/** Longest part of an observation's payload that is shown. */
const MAX_PAYLOAD = 200;

/** What a {@link TextReporter} works with. */
export interface TextReporterSetup {
  readonly terminal: Terminal;
  readonly secrets: Secrets;
  /** Whether each observation is a line. */
  readonly verbose: boolean;
}

/** Lines for people, with a table at the end. */
export class TextReporter implements Reporter {
  readonly #setup: TextReporterSetup;
  #progress: Progress | undefined;

  constructor(setup: TextReporterSetup) {
    this.#setup = setup;
  }

  identified(driver: Driver): void {
    const { identity } = driver;
    const { runtime_name, runtime_version, os, architecture, sdk_name, client_name } = identity;
    this.#rows([
      ["Driver", `${identity.name} ${identity.version}, process ${driver.pid ?? "unknown"}`],
      ["Runtime", `${runtime_name} ${runtime_version} on ${os} ${architecture}`],
      ...(sdk_name === undefined ? [] : [["SDK", `${sdk_name} ${identity.sdk_version}`] as const]),
      ...(client_name === undefined
        ? []
        : [["Client", `${client_name} ${identity.client_version}`] as const]),
      ["Artifact", identity.artifact_digest],
      ["Protocol", driver.version],
      ["Operations", list(driver.capabilities.operations, "not listed")],
      ["Capabilities", abilities(driver.capabilities)],
      ["Requests", list(driver.requestedPermissions, "no permission")],
    ]);
  }

  prepared(permissions: readonly string[]): void {
    this.#rows([["Granted", list(permissions, "no permission")]]);
    this.#say("");
  }

  started(step: Step, bytesSoFar: () => number): void {
    const { terminal } = this.#setup;
    const { operation, total } = step;
    if (!terminal.interactive) this.#say(`${operation}: started`);
    if (this.#setup.verbose) return;
    this.#progress = new Progress({ terminal, operation, total, bytes: bytesSoFar });
  }

  observed(step: Step, observation: Observation): Promise<void> | undefined {
    if (!this.#setup.verbose) return this.#progress?.observed();
    const { sequence, kind, payload } = observation;
    const shown = payload === undefined ? "" : this.#cut(JSON.stringify(payload));
    return this.#line(`${step.operation} #${sequence} ${kind} ${shown}`);
  }

  data(step: Step, { sequence, streamId, bytes: size, digest, file, error }: DataResult): void {
    if (!this.#setup.verbose && file === undefined) return;
    const place = file === undefined ? "" : ` in ${file}`;
    const end = error === undefined ? (digest ?? "") : `not whole: ${error.code}`;
    this.#say(
      `${step.operation} #${sequence} data ${streamId.slice(0, 60)}: ${bytes(size)}${place}, ${end}`,
    );
  }

  completed(result: StepResult): void {
    this.#progress?.stop();
    const { operation, completion, problem, observations, milliseconds, data } = result;
    const beside = hasData(data) ? `; data ${dataFigures({ ...data, milliseconds })}` : "";
    const status = completion?.status ?? "no completion";
    const expected = status === TerminalStatus.Completed ? "" : ", as expected";
    const verdict = problem === undefined ? expected : ", not as expected";
    this.#say(
      `${operation}: ${status}${verdict}: ${counted(observations, "observation")}, ${bytes(result.bytes)} in ${seconds(milliseconds)}${beside}`,
    );
  }

  ended(outcome: SessionOutcome): void {
    this.#progress?.stop();
    if (outcome.driver === undefined) return;
    this.#say("");
    this.#rows(summaryTable(outcome));
  }

  /** Secrets go first: half of one would no longer be found. */
  #cut(text: string): string {
    const hidden = this.#setup.secrets.hide(text);
    return hidden.length > MAX_PAYLOAD ? `${hidden.slice(0, MAX_PAYLOAD)}…` : hidden;
  }

  #rows(rows: readonly (readonly [string, string])[]): void {
    for (const [name, value] of rows) this.#say(row(name, value));
  }

  #say(text: string): void {
    void this.#line(text);
  }

  #line(text: string): Promise<void> | undefined {
    return this.#setup.terminal.line(printable(this.#setup.secrets.hide(text)));
  }
}

function abilities(capabilities: Capabilities): string {
  const { protocols, concurrency, max_concurrency } = capabilities;
  const names = (["streaming", "cancellation", "retry_observed"] as const).filter(
    (name) => capabilities[name],
  );
  return list(
    [...names, ...(concurrency ? [`concurrency ${max_concurrency}`] : []), ...protocols],
    "none",
  );
}

function list(names: readonly string[], none: string): string {
  const shown = names.slice(0, 40).map((name) => name.slice(0, 100));
  const rest = names.length - shown.length;
  return shown.length === 0 ? none : shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
