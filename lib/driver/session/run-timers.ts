import type { Clock, Timer } from "../../clock.ts";

type TimerName = "total" | "idle" | "cancel" | "response";

/** The timers of one run, by name; all go when the run is over. */
export class RunTimers {
  readonly #clock: Clock;
  readonly #timers: Map<TimerName, Timer> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts a timer anew. */
  start(name: TimerName, delay: number, callback: () => void): void {
    this.stop(name);
    this.#timers.set(
      name,
      this.#clock.setTimer(() => {
        this.#timers.delete(name);
        callback();
      }, delay),
    );
  }

  has(name: TimerName): boolean {
    return this.#timers.has(name);
  }

  stop(name: TimerName): void {
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  stopAll(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
