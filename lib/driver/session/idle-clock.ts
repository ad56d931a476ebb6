import type { Entry } from "./run-entry.ts";

/**
 * Runs the idle timers of a session: they judge the driver, so they stand still while the control pipe
 * is not read and while a data stream of the run waits for its consumer.
 */
export class IdleClock {
  readonly #entries: () => Iterable<Entry>;
  readonly #expired: (entry: Entry, idleTimeout: number) => void;
  #paused = false;

  constructor(
    entries: () => Iterable<Entry>,
    expired: (entry: Entry, idleTimeout: number) => void,
  ) {
    this.#entries = entries;
    this.#expired = expired;
  }

  /** Reading of the control pipe was paused or goes on. */
  pause(paused: boolean): void {
    this.#paused = paused;
    for (const entry of this.#entries()) this.restart(entry);
  }

  /** Something of the run came, or it began. */
  restart(entry: Entry): void {
    const { run, timers } = entry;
    const { idleTimeout } = run.options;
    if (idleTimeout === undefined || idleTimeout === 0) return;
    entry.idleBytes = run.streams.received;
    if (this.#paused || run.cause !== undefined || run.streams.blocked.length > 0)
      return timers.stop("idle");
    timers.start("idle", idleTimeout, () => this.#expired(entry, idleTimeout));
  }

  /** Something changed on either plane: data may have come, or a consumer may have let go or taken up. */
  check(): void {
    for (const entry of this.#entries()) {
      const { run, timers } = entry;
      if (!run.options.idleTimeout) continue;
      const came = run.streams.received !== entry.idleBytes;
      const stands = !timers.has("idle");
      if (came || stands !== run.streams.blocked.length > 0) this.restart(entry);
    }
  }
}
