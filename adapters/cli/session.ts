import { randomBytes } from "node:crypto";
import type { Driver, DriverEnd } from "../../lib/driver/session/driver.ts";
import { type SluiceError, toSluiceError } from "../../lib/errors.ts";
import { canonicalDigest } from "../../lib/json/digest.ts";
import { spawnDriver } from "../node/spawn-driver.ts";
import { endFailure } from "./end-failure.ts";
import { printable } from "./printable.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { runStep } from "./run-step.ts";
import { Secrets } from "./secrets.ts";
import type { SessionOutcome, SessionRequest, StepResult } from "./session-types.ts";
import { StderrLines } from "./stderr-lines.ts";
import type { StopSwitch } from "./stop-switch.ts";
import type { Terminal } from "./terminal.ts";

/** One session under way. */
export class Session {
  readonly #request: SessionRequest;
  readonly #stop: StopSwitch;
  readonly #terminal: Terminal;
  readonly #token = randomBytes(32).toString("hex");
  readonly #secrets: Secrets;
  readonly #reporter: Reporter;
  readonly #stderr: StderrLines;
  readonly #states: string[] = [];
  readonly #results: StepResult[] = [];
  #driver: Driver | undefined;
  #over = false;

  constructor(request: SessionRequest, tools: { stop: StopSwitch; terminal: Terminal }) {
    this.#request = request;
    this.#stop = tools.stop;
    this.#terminal = tools.terminal;
    this.#secrets = new Secrets(this.#token, Object.values(request.env ?? {}));
    this.#reporter = createReporter(request.view ?? "text", this.#terminal, this.#secrets);
    this.#stderr = new StderrLines((line) => this.#complain(`[driver] ${line}`), {
      hide: (line) => this.#secrets.hide(line),
      longest: this.#secrets.longest,
    });
  }

  async run(): Promise<SessionOutcome> {
    const thrown = await this.#work();
    const end = await this.#driver?.close();
    this.#stderr.flush();
    if (thrown instanceof TypeError || thrown instanceof RangeError) throw thrown;
    const failure =
      thrown && toSluiceError(thrown, "session_failed", `The session failed: ${thrown.message}`);
    const outcome = this.#outcome(end, failure ?? endFailure(end));
    this.#reporter.ended(outcome);
    this.#explain(outcome);
    return outcome;
  }

  /** @returns What ended it early. */
  async #work(): Promise<Error | undefined> {
    try {
      await this.#prepare();
      await this.#runSteps();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #prepare(): Promise<void> {
    const driver = await this.#start();
    this.#driver = driver;
    this.#reporter.identified(driver);
    const { permissions = [], steps = [] } = this.#request;
    const granted = permissions === "requested" ? driver.requestedPermissions : permissions;
    await driver.prepare({
      planDigest: canonicalDigest({ operations: steps.map(({ operation }) => operation) }),
      capabilityToken: this.#token,
      permissions: granted,
    });
    this.#reporter.prepared(driver.permissions);
  }

  async #start(): Promise<Driver> {
    const { command, env, cwd, noise, startTimeout, companion } = this.#request;
    const { stopped, killed } = this.#stop;
    return await spawnDriver(command, {
      env,
      cwd,
      noise,
      startTimeout,
      companion: companion === "off" ? "off" : "auto",
      companionVia: companion === "off" ? undefined : companion,
      signal: stopped,
      onSpawn: (child) => {
        const kill = (): void => void child.kill("SIGKILL");
        killed.addEventListener("abort", kill);
        void child.exited.then(() => killed.removeEventListener("abort", kill));
      },
      onStderr: (chunk) => this.#stderr.push(chunk),
      onNoise: (line) => this.#complain(`[driver's stdout] ${this.#secrets.hide(line)}`),
      onState: (state) => this.#states.push(state),
      onEnd: () => (this.#over = true),
    });
  }

  async #runSteps(): Promise<void> {
    for (const step of this.#request.steps ?? []) {
      if (this.#over || this.#stop.stopped.aborted || this.#driver === undefined) return;
      const context = {
        reporter: this.#reporter,
        stopped: this.#stop.stopped,
        dataDir: this.#request.dataDir,
      };
      const result = await runStep(this.#driver, step, context);
      this.#results.push(result);
      this.#reporter.completed(result);
    }
  }

  #outcome(end: DriverEnd | undefined, failure: SluiceError | undefined): SessionOutcome {
    const steps = this.#request.steps ?? [];
    const results = this.#results;
    const ok =
      failure === undefined &&
      results.length === steps.length &&
      results.every(({ problem }) => problem === undefined);
    return {
      exitCode: this.#stop.reason?.exitCode ?? (ok ? 0 : 1),
      failure,
      stop: this.#stop.reason,
      driver: this.#driver?.identity,
      steps,
      results,
      states: this.#states,
      permissions: this.#driver?.permissions ?? [],
      stats: this.#driver?.stats,
      end,
    };
  }

  /** Says on stderr what was not as expected; nothing when the user stopped it. */
  #explain({ stop, results, failure }: SessionOutcome): void {
    if (stop !== undefined) return;
    for (const { operation, problem } of results)
      if (problem !== undefined)
        this.#complain(`sluice: ${operation}: ${this.#secrets.hide(problem)}`);
    if (failure === undefined || results.some(({ problem }) => problem === failure.message)) return;
    this.#complain(`sluice: ${this.#secrets.hide(failure.message)}`);
  }

  #complain(line: string): void {
    this.#terminal.errorLine(printable(line));
  }
}
