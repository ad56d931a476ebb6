import { bytes, count, seconds, throughput } from "./format.ts";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";
import { nodeClock } from "../node/node-clock.ts";

/** Milliseconds between two drawings of the status line. */
const REDRAW = 80;
/** Observations between two lines where no status line can be drawn. */
const LINE_EVERY = 1000;
const BAR_WIDTH = 20;
const SPINNER = "|/-\\";

/** What a {@link Progress} shows. */
export interface ProgressSetup {
  readonly terminal: Terminal;
  readonly operation: string;
  /** How many observations are to come, when that is known. */
  readonly total: number | undefined;
  /** Bytes so far. */
  readonly bytes: () => number;
}

/** Shows how far an operation is: a line that is redrawn on a terminal, a line now and then elsewhere. */
export class Progress {
  readonly #setup: ProgressSetup;
  readonly #start = nodeClock.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #observations = 0;
  #turn = 0;

  constructor(setup: ProgressSetup) {
    this.#setup = setup;
    if (setup.terminal.interactive) this.#timer = setInterval(() => this.#draw(), REDRAW).unref();
  }

  /** One more observation came. @returns A promise to wait for when the output's reader is slow. */
  observed(): Promise<void> | undefined {
    this.#observations += 1;
    if (this.#timer !== undefined || this.#observations % LINE_EVERY !== 0) return undefined;
    return this.#setup.terminal.line(`${this.#name}: ${this.#figures()}`);
  }

  /** Takes the status line away. */
  stop(): void {
    clearInterval(this.#timer);
    this.#setup.terminal.clearStatus();
  }

  get #name(): string {
    return printable(this.#setup.operation.slice(0, 60));
  }

  #draw(): void {
    const { terminal, total } = this.#setup;
    this.#turn += 1;
    const sign =
      total === undefined ? SPINNER[this.#turn % SPINNER.length] : bar(this.#observations / total);
    terminal.drawStatus(`${sign} ${this.#name}  ${this.#figures()}`);
  }

  #figures(): string {
    const amount = {
      observations: this.#observations,
      bytes: this.#setup.bytes(),
      milliseconds: nodeClock.now() - this.#start,
    };
    return `${count(amount.observations)} observations, ${bytes(amount.bytes)} in ${seconds(amount.milliseconds)} (${throughput(amount)})`;
  }
}

function bar(part: number): string {
  const done = Math.min(1, part);
  const full = Math.floor(done * BAR_WIDTH);
  const percent = `${Math.floor(done * 100)}%`.padStart(4);
  return `[${"#".repeat(full)}${"-".repeat(BAR_WIDTH - full)}]${percent}`;
}
