import type { SluiceError } from "../errors.ts";
import { JsonErrorCode, jsonFault, type PathStep } from "./json-fault.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOW_SURROGATE_ESCAPE = /^\\u[dD][c-fC-F][0-9a-fA-F]{2}$/;

/** Reads the tokens of a JSON text one by one, and makes the faults of the place where it stands. */
export class TokenScanner {
  /** The whole text. */
  readonly text: string;
  /** Steps from the top value to the one being read; kept by the user of the scanner. */
  readonly path: PathStep[] = [];
  /** Index of the next code unit. */
  at = 0;
  /** The first fault that counts only in a text with no fault of another kind. */
  late: SluiceError | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The next code unit, NaN at the end of the text. */
  unit(): number {
    return this.text.charCodeAt(this.at);
  }

  /** Reads a string, number or word. */
  scalar(): string | number | boolean | null {
    switch (this.text.charAt(this.at)) {
      case '"':
        return this.string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  /** Reads a string that begins here. */
  string(): string {
    const start = this.at;
    const text = this.text;
    let at = start + 1;
    let escaped = false;
    for (let unit = text.charCodeAt(at); unit !== QUOTE; unit = text.charCodeAt(at)) {
      if (unit === BACKSLASH) {
        escaped = true;
        at = this.#escape(at);
      } else if (!(unit >= 0x20)) {
        // A control character, or NaN at the end of the text.
        throw this.fault(JsonErrorCode.Syntax, at);
      } else {
        at += (unit & 0xf800) === 0xd800 ? this.#rawSurrogate(at) : 1;
      }
    }
    this.at = at + 1;
    if (!escaped) return text.slice(start + 1, at);
    // The literal was checked just now, and no engine errs on a string alone.
    const decoded: unknown = JSON.parse(text.slice(start, at + 1));
    return String(decoded);
  }

  /** Steps over one code unit if it comes next. */
  take(unit: number): boolean {
    const there = this.unit() === unit;
    if (there) this.at++;
    return there;
  }

  /** Steps over one code unit that has to come next. */
  expect(unit: number): void {
    if (!this.take(unit)) throw this.fault(JsonErrorCode.Syntax, this.at);
  }

  skipBlanks(): void {
    let unit = this.unit();
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
      this.at++;
      unit = this.unit();
    }
  }

  /** Tells whether a whole token or an opening bracket comes next. */
  tokenFollows(): boolean {
    const next = this.text.charAt(this.at);
    if (next === "{" || next === "[") return true;
    try {
      this.scalar();
      return true;
    } catch {
      return false;
    }
  }

  /** Makes the error for a fault at an index. */
  fault(code: JsonErrorCode, at: number): SluiceError {
    const offset = new TextEncoder().encode(this.text.slice(0, at)).length;
    return jsonFault(code, { offset, path: this.path });
  }

  /** Checks the escape at an index and returns the index after it. */
  #escape(at: number): number {
    const text = this.text;
    const kind = text.charAt(at + 1);
    if (kind !== "u") {
      if (kind === "" || !'"\\/bfnrt'.includes(kind))
        throw this.fault(JsonErrorCode.Syntax, at + 1);
      return at + 2;
    }
    for (let digit = at + 2; digit < at + 6; digit++) {
      if (!/[0-9a-fA-F]/.test(text.charAt(digit))) throw this.fault(JsonErrorCode.Syntax, digit);
    }
    const unit = Number.parseInt(text.slice(at + 2, at + 6), 16);
    if ((unit & 0xf800) !== 0xd800) return at + 6;
    if (unit < 0xdc00 && LOW_SURROGATE_ESCAPE.test(text.slice(at + 6, at + 12))) return at + 12;
    this.late ??= this.fault(JsonErrorCode.LoneSurrogate, at);
    return at + 6;
  }

  /** Length of a raw pair, or 1 for an unpaired surrogate, which is noted. */
  #rawSurrogate(at: number): number {
    if ((this.text.codePointAt(at) ?? 0) > 0xffff) return 2;
    this.late ??= this.fault(JsonErrorCode.LoneSurrogate, at);
    return 1;
  }

  #number(): number {
    const start = this.at;
    const text = this.text;
    let at = text.charAt(start) === "-" ? start + 1 : start;
    at = text.charAt(at) === "0" ? at + 1 : this.#digits(at);
    if (text.charAt(at) === ".") at = this.#digits(at + 1);
    if (text.charAt(at) === "e" || text.charAt(at) === "E") {
      const sign = text.charAt(at + 1);
      at = this.#digits(sign === "+" || sign === "-" ? at + 2 : at + 1);
    }
    this.at = at;
    const value = Number(text.slice(start, at));
    if (!Number.isFinite(value)) this.late ??= this.fault(JsonErrorCode.NumberRange, start);
    return value;
  }

  /** Skips one digit or more and returns the index after them. */
  #digits(from: number): number {
    let at = from;
    while (/[0-9]/.test(this.text.charAt(at))) at++;
    if (at === from) throw this.fault(JsonErrorCode.Syntax, at);
    return at;
  }

  #word<T>(word: string, value: T): T {
    for (const letter of word) {
      if (this.text.charAt(this.at) !== letter) throw this.fault(JsonErrorCode.Syntax, this.at);
      this.at++;
    }
    return value;
  }
}
