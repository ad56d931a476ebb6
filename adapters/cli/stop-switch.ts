import process from "node:process";

/** Why a session is stopped before its end, and the exit code that says so. */
export interface StopReason {
  /** The signal, or the code of the failed write. */
  readonly name: string;
  readonly exitCode: number;
  /** What the user is told, where anything is. */
  readonly notice?: string;
}

/** Exit codes by the convention of shells: 128 and the number of the signal. */
const EXIT_CODES: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
]);

/** Stops a session once, and kills its driver at the second request. */
export class StopSwitch {
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();
  #reason: StopReason | undefined;

  /** Aborts at the first request. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts at the second request: the driver gets no more time. */
  get killed(): AbortSignal {
    return this.#kill.signal;
  }

  /** The first request's reason. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Asks for the stop. */
  request(reason: StopReason): void {
    if (this.#reason !== undefined) return this.#kill.abort();
    this.#reason = reason;
    this.#stop.abort();
  }

  /**
   * Has the signals that end a program do it.
   *
   * @returns Takes the listeners back; after the second signal they are gone already, so that a third
   *   one acts as if there had been none.
   */
  listen(): () => void {
    const release = (): void => {
      for (const name of EXIT_CODES.keys()) process.off(name, onSignal);
    };
    const onSignal = (name: NodeJS.Signals): void => {
      const notice = `${name}: ending the driver; once more to kill it`;
      this.request({ name, exitCode: EXIT_CODES.get(name) ?? 1, notice });
      if (this.killed.aborted) release();
    };
    for (const name of EXIT_CODES.keys()) process.on(name, onSignal);
    return release;
  }
}
