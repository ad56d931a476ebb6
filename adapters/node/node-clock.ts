import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import { createClock } from "../../lib/clock.ts";
import type { Clock } from "../../lib/clock.ts";

/** The clock of the process; its timers let the process end unless they ask to be kept alive. */
export const nodeClock: Clock = createClock<NodeJS.Timeout>({
  now: () => performance.now(),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (handle) => clearTimeout(handle),
  unref: (handle) => void handle.unref(),
});
