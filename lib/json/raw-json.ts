/** A JSON text that stands for its value wherever a value is encoded. */
export class RawJson {
  /** The text as given; it is checked when it is encoded, not before. */
  readonly text: string;

  /** @param text Any text; {@link rawJson} says what becomes of it. */
  constructor(text: string) {
    if (typeof text !== "string") throw new TypeError("RawJson needs a string");
    this.text = text;
  }
}

/**
 * Wraps a JSON text, so that {@link canonicalJson} takes the value it spells.
 *
 * The text need not be canonical: it is parsed by the strict rules of {@link parseJson} when it is
 * encoded, its depth counted from the place where it stands, and its errors keep their codes.
 *
 * @throws {TypeError} When the text is not a string.
 */
export function rawJson(text: string): RawJson {
  return new RawJson(text);
}
