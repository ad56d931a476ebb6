import { JsonErrorCode } from "./json-fault.ts";
import { setMember } from "./set-member.ts";
import { TokenScanner } from "./token-scanner.ts";
import type { JsonObject, JsonValue } from "./value.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** The first character of any value. */
const VALUE_START = /["[{tfn\-0-9]/;

/**
 * Parses a text with every strict rule, slowly, and finds what is wrong with it and where.
 *
 * Syntax, repeated names, depth and what follows the value are judged first, from left to right;
 * a number out of range, an unpaired surrogate or blanks around a bare scalar only count in a text
 * that has none of those faults.
 *
 * @param text The whole text.
 * @param maxDepth Deepest value allowed; the top value has depth 0. Recursion goes as deep.
 * @throws {SluiceError} With a {@link JsonErrorCode}, never `invalid_utf8`.
 */
export function exactParse(text: string, maxDepth: number): JsonValue {
  return new ExactParser(text, maxDepth).parse();
}

class ExactParser {
  readonly #scan: TokenScanner;
  readonly #maxDepth: number;

  constructor(text: string, maxDepth: number) {
    this.#scan = new TokenScanner(text);
    this.#maxDepth = maxDepth;
  }

  parse(): JsonValue {
    const scan = this.#scan;
    scan.skipBlanks();
    const start = scan.at;
    const value = this.#value(0);
    const end = scan.at;
    scan.skipBlanks();
    const rest = scan.at;
    if (rest < scan.text.length) {
      throw scan.fault(scan.tokenFollows() ? JsonErrorCode.Trailing : JsonErrorCode.Syntax, rest);
    }
    if (isBare(value) && end - start < rest) {
      scan.late ??= scan.fault(JsonErrorCode.Syntax, start > 0 ? 0 : end);
    }
    if (scan.late !== undefined) throw scan.late;
    return value;
  }

  #value(depth: number): JsonValue {
    const scan = this.#scan;
    if (depth > this.#maxDepth && VALUE_START.test(scan.text.charAt(scan.at))) {
      throw scan.fault(JsonErrorCode.Depth, scan.at);
    }
    const unit = scan.unit();
    if (unit === OPEN_BRACE) return this.#object(depth);
    if (unit === OPEN_BRACKET) return this.#array(depth);
    return scan.scalar();
  }

  #object(depth: number): JsonObject {
    const scan = this.#scan;
    const members: Record<string, JsonValue> = {};
    scan.expect(OPEN_BRACE);
    scan.skipBlanks();
    if (scan.take(CLOSE_BRACE)) return members;
    do {
      scan.skipBlanks();
      const nameAt = scan.at;
      if (scan.unit() !== QUOTE) throw scan.fault(JsonErrorCode.Syntax, nameAt);
      const name = scan.string();
      scan.path.push(name);
      if (Object.hasOwn(members, name)) throw scan.fault(JsonErrorCode.DuplicateKey, nameAt);
      scan.skipBlanks();
      scan.expect(COLON);
      scan.skipBlanks();
      setMember(members, name, this.#value(depth + 1));
      scan.path.pop();
      scan.skipBlanks();
    } while (scan.take(COMMA));
    scan.expect(CLOSE_BRACE);
    return members;
  }

  #array(depth: number): JsonValue[] {
    const scan = this.#scan;
    const elements: JsonValue[] = [];
    scan.expect(OPEN_BRACKET);
    scan.skipBlanks();
    if (scan.take(CLOSE_BRACKET)) return elements;
    do {
      scan.skipBlanks();
      scan.path.push(elements.length);
      elements.push(this.#value(depth + 1));
      scan.path.pop();
      scan.skipBlanks();
    } while (scan.take(COMMA));
    scan.expect(CLOSE_BRACKET);
    return elements;
  }
}

/** Blanks around these are refused at the top. */
function isBare(value: JsonValue): boolean {
  return value === null || typeof value === "number" || typeof value === "boolean";
}
