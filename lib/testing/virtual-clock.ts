import type { Clock, Timer } from "../clock.ts";

interface VirtualTimer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A {@link Clock} that stands still until told to move, for tests.
 *
 * Timers fire inside {@link VirtualClock.advance}, in the order of their due times and then of their
 * creation, each with `now()` at its due time. Promise reactions run only once the caller awaits.
 */
export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<VirtualTimer>();

  /** @param start What `now()` gives at first, in milliseconds. */
  constructor(start = 0) {
    this.#now = start;
  }

  /** How many timers wait; 0 shows that nothing was left behind. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimer(callback: () => void, delay: number): Timer {
    const timer = { due: this.#now + Math.max(0, delay), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /**
   * Moves time on and fires what falls due, also timers set meanwhile.
   *
   * @param delay Milliseconds, 0 or more.
   * @throws {RangeError} When the delay is negative or not finite.
   */
  advance(delay: number): void {
    if (!(delay >= 0 && delay < Infinity)) {
      throw new RangeError(`delay must be 0 or more milliseconds, got ${String(delay)}`);
    }
    const end = this.#now + delay;
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = Math.max(this.#now, timer.due);
      timer.callback();
    }
    this.#now = Math.max(this.#now, end);
  }

  /** The earliest timer up to `end`; a Set keeps creation order, so ties go to the older one. */
  #next(end: number): VirtualTimer | undefined {
    let earliest: VirtualTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= end && (earliest === undefined || timer.due < earliest.due))
        earliest = timer;
    }
    return earliest;
  }
}
