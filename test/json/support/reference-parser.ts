/** What the strict rules say of a text. */
export type Verdict = { readonly value: unknown } | { readonly code: string };

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
/** A number whose point or exponent has no digits, such as `1.` or `2.5e+`. */
const CUT_NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.(?![0-9])|(?:\.[0-9]+)?[eE](?![-+]?[0-9]))/y;
const WORD = /true|false|null/y;
const BLANKS = /[ \t\n\r]*/y;

class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/**
 * A slow parser for tests, written from the rules and from nothing else: it reads with regular
 * expressions and keeps a set of the names seen in each object.
 */
export function referenceParse(text: string, maxDepth = 256): Verdict {
  let at = 0;
  const late: string[] = [];

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  function refuse(code: string): never {
    throw new Refused(code);
  }

  function scalar(): unknown {
    const string = match(STRING);
    if (string !== undefined) return unescape(string, late);
    const word = match(WORD);
    if (word !== undefined) return word === "null" ? null : word === "true";
    const number = match(CUT_NUMBER) === undefined ? match(NUMBER) : undefined;
    if (number === undefined) refuse("syntax");
    if (!Number.isFinite(Number(number))) late.push("number_range");
    return Number(number);
  }

  function value(depth: number): unknown {
    const next = text.charAt(at);
    if (depth > maxDepth && next !== "" && '{["-0123456789tfn'.includes(next)) refuse("depth");
    if (next === "{") return object(depth);
    if (next === "[") return array(depth);
    return scalar();
  }

  function object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    const seen = new Set<string>();
    at++;
    match(BLANKS);
    if (text.charAt(at) === "}") return (at++, {});
    for (;;) {
      match(BLANKS);
      const name = unescape(match(STRING) ?? refuse("syntax"), late);
      if (seen.has(name)) refuse("duplicate_key");
      seen.add(name);
      match(BLANKS);
      if (text.charAt(at++) !== ":") refuse("syntax");
      match(BLANKS);
      entries.push([name, value(depth + 1)]);
      match(BLANKS);
      const mark = text.charAt(at++);
      if (mark === "}") return Object.fromEntries(entries);
      if (mark !== ",") refuse("syntax");
    }
  }

  function array(depth: number): unknown {
    const elements: unknown[] = [];
    at++;
    match(BLANKS);
    if (text.charAt(at) === "]") return (at++, elements);
    for (;;) {
      match(BLANKS);
      elements.push(value(depth + 1));
      match(BLANKS);
      const mark = text.charAt(at++);
      if (mark === "]") return elements;
      if (mark !== ",") refuse("syntax");
    }
  }

  function tokenFollows(): boolean {
    if (text.charAt(at) === "{" || text.charAt(at) === "[") return true;
    try {
      scalar();
      return true;
    } catch {
      return false;
    }
  }

  try {
    match(BLANKS);
    const result = value(0);
    match(BLANKS);
    if (at < text.length) refuse(tokenFollows() ? "trailing" : "syntax");
    const bare = typeof result !== "string" && (typeof result !== "object" || result === null);
    if (bare && text !== text.trim()) late.push("syntax");
    return late.length > 0 ? { code: late[0]! } : { value: result };
  } catch (thrown) {
    if (thrown instanceof Refused) return { code: thrown.code };
    throw thrown;
  }
}

/** Replaces the escapes of a string literal; notes an unpaired surrogate, raw or escaped. */
function unescape(literal: string, late: string[]): string {
  const inner = literal.slice(1, -1);
  // A raw half and an escaped half make no pair, so each kind is judged with the other one taken out.
  const raw = inner.replaceAll(/\\(?:u[0-9a-fA-F]{4}|.)/g, "-");
  const plain = inner.replaceAll(/\\([^u])/g, "-");
  const escaped = plain.replaceAll(
    /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g,
    "-",
  );
  if (!raw.isWellFormed() || /\\u[dD][89a-fA-F]/.test(escaped)) late.push("lone_surrogate");
  const simple: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
  return inner.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_all, hex?: string, letter = "") =>
    hex === undefined ? (simple[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
