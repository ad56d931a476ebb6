import type { Clock, Timer } from "../../clock.ts";

/** A timer that only counts while it runs: time of a peer that is not being read is not held against it. */
export class PausableTimer {
  readonly #clock: Clock;
  readonly #callback: () => void;
  #left: number;
  #timer: Timer | undefined;
  #since = 0;

  /** The timer is made paused; see {@link PausableTimer.run}. */
  constructor(clock: Clock, delay: number, callback: () => void) {
    this.#clock = clock;
    this.#left = delay;
    this.#callback = callback;
  }

  /** Lets it count, or not. */
  run(running: boolean): void {
    if (running === (this.#timer !== undefined)) return;
    if (running) {
      this.#since = this.#clock.now();
      this.#timer = this.#clock.setTimer(this.#callback, this.#left);
    } else {
      this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since));
      this.cancel();
    }
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
