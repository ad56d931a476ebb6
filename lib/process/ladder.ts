import type { Clock } from "../clock.ts";
import type { Limits } from "../limits.ts";
import type { ChildHandle, ExitStatus, KillSignal } from "./child-handle.ts";

/**
 * One step of a child's end, in order: its stdin was closed; SIGTERM, then SIGKILL went to its group;
 * its pipes were released because it did not end; processes that it left in its group were killed
 * (told only where SIGKILL had not reached them before; they may have been on their way out).
 */
export type Rung = "stdin" | "SIGTERM" | "SIGKILL" | "release" | "sweep";

/** How {@link endChild} goes. */
export interface LadderOptions {
  readonly clock: Clock;
  /** `stdinTimeout` bounds the first wait, `terminateTimeout` the two after it. */
  readonly limits: Pick<Limits, "stdinTimeout" | "terminateTimeout">;
  /** Closes the child's stdin; not waited for. Default: closes `child.writable`. */
  readonly closeStdin?: (() => unknown) | undefined;
  /** The first rung; a later call with a later one moves the shared run on. Default `stdin`. */
  readonly startAt?: "stdin" | "SIGTERM" | "SIGKILL" | undefined;
  /** Told of each rung before it is taken (`sweep`: after it); what it throws is ignored. */
  readonly onRung?: ((rung: Rung) => void) | undefined;
}

/** How a child was ended. */
export interface LadderResult {
  /** Null when even SIGKILL did not end it in time. */
  readonly status: ExitStatus | null;
  /** The rungs taken, in order; empty when it had ended by itself and left nobody. */
  readonly rungs: readonly Rung[];
}

const STEPS = ["stdin", "SIGTERM", "SIGKILL"] as const;
const runs = new WeakMap<ChildHandle, LadderRun>();

/**
 * Ends a child and its process group: stdin closed, SIGTERM, SIGKILL, each with a deadline.
 *
 * After the exit, what is left of the group gets SIGKILL. All calls for one child share one run,
 * with the options of the first. Its timers keep the process alive, at most
 * `stdinTimeout + 2 * terminateTimeout`.
 *
 * @returns A promise that never rejects.
 */
export function endChild(child: ChildHandle, options: LadderOptions): Promise<LadderResult> {
  const started = runs.get(child);
  if (started !== undefined) {
    started.skipTo(options.startAt ?? "stdin");
    return started.result;
  }
  const run = new LadderRun(child, options);
  runs.set(child, run);
  return run.result;
}

class LadderRun {
  readonly result: Promise<LadderResult>;
  readonly #child: ChildHandle;
  readonly #options: LadderOptions;
  readonly #rungs: Rung[] = [];
  #first: number;
  #status: ExitStatus | undefined;
  #wake: (() => void) | undefined;

  constructor(child: ChildHandle, options: LadderOptions) {
    this.#child = child;
    this.#options = options;
    this.#first = STEPS.indexOf(options.startAt ?? "stdin");
    void child.exited.then((status) => {
      this.#status = status;
      this.#wake?.();
    });
    this.result = this.#run();
  }

  skipTo(step: (typeof STEPS)[number]): void {
    const index = STEPS.indexOf(step);
    if (index <= this.#first) return;
    this.#first = index;
    this.#wake?.();
  }

  async #run(): Promise<LadderResult> {
    // One turn, in which an exit that already happened is seen.
    await Promise.resolve();
    for (const [index, step] of STEPS.entries()) {
      if (this.#status !== undefined) break;
      if (index < this.#first) continue;
      this.#take(step);
      if (step === "stdin") this.#closeStdin();
      else this.#kill(step);
      await this.#exitWithin(this.#timeout(step), index);
    }
    if (this.#status === undefined) {
      this.#take("release");
      this.#child.release();
    } else if (this.#kill("SIGKILL") && !this.#rungs.includes("SIGKILL")) {
      this.#take("sweep");
    }
    return { status: this.#status ?? null, rungs: this.#rungs };
  }

  #timeout(step: (typeof STEPS)[number]): number {
    const { stdinTimeout, terminateTimeout } = this.#options.limits;
    return step === "stdin" ? stdinTimeout : terminateTimeout;
  }

  /** Resolves at the exit, after `timeout`, or when a later call skips past the step `index`. */
  #exitWithin(timeout: number, index: number): Promise<void> {
    if (this.#status !== undefined || this.#first > index) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#options.clock.setTimer(() => this.#wake?.(), timeout, {
        keepAlive: true,
      });
      this.#wake = () => {
        this.#wake = undefined;
        timer.cancel();
        resolve();
      };
    });
  }

  #take(rung: Rung): void {
    this.#rungs.push(rung);
    attempt(() => this.#options.onRung?.(rung));
  }

  /** A child that does not read can hold the close for ever: the next rung does not wait for it. */
  #closeStdin(): void {
    const close = this.#options.closeStdin ?? (() => this.#child.writable.close());
    attempt(() => void Promise.resolve(close()).catch(() => undefined));
  }

  #kill(signal: KillSignal): boolean {
    return attempt(() => this.#child.kill(signal)) ?? false;
  }
}

/** The ladder goes on whatever a callback or a runtime throws. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
