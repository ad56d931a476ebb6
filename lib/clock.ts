/** A timer under way; `cancel` may be called any number of times. */
export interface Timer {
  cancel(): void;
}

/** How a timer treats the process it lives in. */
export interface TimerOptions {
  /**
   * Whether the pending timer keeps the process alive. Default false.
   * A clock that cannot let go (see {@link createClock}) ignores `false`.
   */
  readonly keepAlive?: boolean;
}

/** The port through which the kit sees time; virtual in tests. */
export interface Clock {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls `callback` once after `delay` milliseconds; any finite delay is allowed. */
  setTimer(callback: () => void, delay: number, options?: TimerOptions): Timer;
}

/** What {@link createClock} stands on. */
export interface ClockSource<Handle> {
  now(): number;
  setTimeout(callback: () => void, delay: number): Handle;
  clearTimeout(handle: Handle): void;
  /** Lets the process end although the timer is pending; absent where the runtime cannot. */
  unref?(handle: Handle): void;
}

/** Longest delay that `setTimeout` takes; above it, it fires at once. */
const MAX_DELAY = 2 ** 31 - 1;

/** Builds a {@link Clock} on a runtime's timers; delays over 2^31−1 ms are chained. */
export function createClock<Handle>(source: ClockSource<Handle>): Clock {
  return {
    now: () => source.now(),
    setTimer(callback, delay, options) {
      let left = Math.max(0, delay);
      let handle: Handle;
      const arm = (): void => {
        const step = Math.min(left, MAX_DELAY);
        left -= step;
        handle = source.setTimeout(() => (left > 0 ? arm() : callback()), step);
        if (options?.keepAlive !== true) source.unref?.(handle);
      };
      arm();
      return { cancel: () => source.clearTimeout(handle) };
    },
  };
}

/** The default clock: web timers, which keep the process alive while pending. */
export const systemClock: Clock = createClock<ReturnType<typeof setTimeout>>({
  now: () => performance.now(),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (handle) => clearTimeout(handle),
});
