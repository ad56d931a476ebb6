import { SluiceError } from "../../errors.ts";
import { tell } from "../tell.ts";
import type { DriverOptions } from "./options.ts";
import { excerptOf, noiseFault } from "./reasons.ts";

/** A line whose first byte that is no blank of JSON is `{`; so may be one that begins with more blanks than are shown. */
const PROTOCOL_LINE = /^[ \t\r\n]*\{|^[ \t\r\n]{200}/;

/** Judges lines on stdout that are no frames (host-v1 §6): their first non-blank byte is not `{`. */
export class Noise {
  readonly #policy: "fail" | "stderr";
  readonly #onNoise: ((line: string) => void) | undefined;
  readonly #limit: number;
  #lines = 0;
  #bytes = 0;

  constructor(options: DriverOptions, limit: number) {
    this.#policy = options.noise ?? "fail";
    this.#onNoise = options.onNoise;
    this.#limit = limit;
  }

  /** How many lines of noise came so far. */
  get lines(): number {
    return this.#lines;
  }

  /**
   * Judges a fault of the control pipe.
   *
   * @returns `taken` when it was noise and is allowed, the reason to end the session when it was noise
   *   and is not, undefined when it was a protocol line.
   */
  judge(fault: SluiceError): "taken" | SluiceError | undefined {
    const excerpt = excerptOf(fault);
    if (excerpt === undefined || PROTOCOL_LINE.test(excerpt)) return undefined;
    this.#lines += 1;
    if (this.#policy === "fail") return noiseFault(fault);
    this.#bytes += excerpt.length + 1;
    tell(this.#onNoise, excerpt);
    if (this.#bytes <= this.#limit) return "taken";
    return new SluiceError(
      "noise_exceeded",
      `Driver printed more than ${this.#limit} bytes to stdout that are no frames`,
      {
        data: { limit: this.#limit },
        cause: fault,
      },
    );
  }
}
