const HIDDEN = "[redacted]";

/** Shorter values are found in ordinary words, so hiding them would hide the rest of the output. */
const MIN_LENGTH = 8;

/** What must not be printed: the capability token, and the values that the user put in the environment. */
export class Secrets {
  readonly #token: string;
  /** The longest first, so that none is cut by a shorter one that it holds. */
  readonly #all: readonly string[];

  /** @param values Values under 8 characters are not searched for; each line of a longer one is. */
  constructor(token: string, values: readonly string[] = []) {
    this.#token = token;
    const lines = values.flatMap((value) => value.split(/\r?\n/));
    const long = lines.filter((line) => line.length >= MIN_LENGTH);
    this.#all = [...new Set([token, ...long])].toSorted((a, b) => b.length - a.length);
  }

  /** Characters of the longest secret: a text that is cut may hold a part of one up to this long. */
  get longest(): number {
    return this.#all[0]?.length ?? 0;
  }

  /** Blanks every secret; for messages and what the driver prints. */
  hide(text: string): string {
    return this.#all.reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text);
  }

  /** Blanks the token alone; for observations, which are the user's own data. */
  hideToken(text: string): string {
    return text.replaceAll(this.#token, HIDDEN);
  }
}
