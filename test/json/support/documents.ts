/** Numbers from a seed, the same in every runtime (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to `below` − 1. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

const NAMES = [
  "a",
  "b",
  "",
  "x",
  "__proto__",
  "toJSON",
  "1",
  "10",
  "9",
  "é",
  "😀",
  "k:",
  ":",
  "id",
];
const ESCAPED_NAMES = [
  "\\u0061",
  "\\\\",
  '\\"',
  "a\\n",
  "\\u00e9",
  "\\u003a",
  "\\ud83d\\ude00",
  "\\ud800",
];
const STRINGS = ["", "text", "12:30:05", "https://h:1/p", "::", ' ":', "café ☃", "\u2028", "😀"];
const ESCAPES = [
  "\\n",
  '\\"',
  "\\\\",
  "\\/",
  "\\u0041",
  "\\u003A",
  '\\":',
  "\\ud83d\\ude00",
  "\\udc00",
  "\\uD800",
];
const NUMBERS = [
  "0",
  "-0",
  "7",
  "-12",
  "100",
  "1000",
  "1e3",
  "12E8",
  "1.5",
  "0.001",
  "1e-7",
  "123456789012",
];
const ODD_NUMBERS = [
  "1e400",
  "-1e999",
  "1e-999",
  "9007199254740993",
  "1e23",
  "5e-324",
  "100000000000000000000",
];
const JUNK = [
  '"',
  "\\",
  ":",
  ",",
  "{",
  "}",
  "[",
  "]",
  "0",
  " ",
  "\n",
  "\u0000",
  "e",
  "\ud800",
  "\udc00",
  "\ufeff",
];

/** Writes a JSON text that is often, not always, sound: names may repeat and oddities occur. */
export function randomDocument(random: Random): string {
  const blank = random.pick(["", "", "", " ", "\n  "]);
  const text = randomValue(random, { levels: 4, blank });
  return random.below(8) === 0 ? `${blank}${text}${blank}` : text;
}

interface Style {
  readonly levels: number;
  readonly blank: string;
}

function randomValue(random: Random, style: Style): string {
  const kind = random.below(style.levels > 0 ? 10 : 5);
  if (kind === 0) return random.pick(["true", "false", "null"]);
  if (kind <= 2) return random.pick(random.below(12) === 0 ? ODD_NUMBERS : NUMBERS);
  if (kind <= 4) return randomString(random);
  const inner = { ...style, levels: style.levels - 1 };
  const { blank } = style;
  const parts = Array.from({ length: random.below(5) }, () => {
    const value = randomValue(random, inner);
    return kind <= 6 ? value : `${randomName(random)}${blank}:${blank}${value}`;
  });
  const joined = parts.join(`,${blank}`);
  return kind <= 6 ? `[${blank}${joined}${blank}]` : `{${blank}${joined}${blank}}`;
}

function randomName(random: Random): string {
  return `"${random.pick(random.below(8) === 0 ? ESCAPED_NAMES : NAMES)}${random.below(2) || ""}"`;
}

function randomString(random: Random): string {
  const middle = random.below(4) === 0 ? random.pick(ESCAPES) : "";
  return `"${random.pick(STRINGS)}${middle}${random.pick(STRINGS).replaceAll('"', "")}"`.replace(
    '" "',
    '"',
  );
}

/** Puts a document into so many arrays or objects. */
export function nest(text: string, levels: number): string {
  const half = levels >> 1;
  return (
    "[".repeat(levels - half) +
    '{"k":'.repeat(half) +
    text +
    "}".repeat(half) +
    "]".repeat(levels - half)
  );
}

/** Changes a text in one to three places: cuts, junk, copies of a piece, swapped neighbours. */
export function mutate(text: string, random: Random): string {
  let changed = text;
  for (let round = random.below(3); round >= 0; round--) {
    const at = random.below(changed.length + 1);
    const end = at + random.below(6);
    const piece = changed.slice(at, end);
    const change = random.below(5);
    if (change === 0) changed = changed.slice(0, at) + changed.slice(end);
    else if (change === 1) changed = changed.slice(0, at) + random.pick(JUNK) + changed.slice(at);
    else if (change === 2)
      changed = changed.slice(0, at) + random.pick(JUNK) + changed.slice(at + 1);
    else if (change === 3) changed = changed.slice(0, end) + piece + changed.slice(end);
    else changed = changed.slice(0, at) + piece.slice(1) + piece.slice(0, 1) + changed.slice(end);
  }
  return changed;
}

/** Repeats one member of an object somewhere in the text, the likeliest thing to slip through. */
export function repeatMember(text: string, random: Random): string {
  const members = [
    ...text.matchAll(/"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[-0-9.eE+]+|true|false|null|\{\}|\[\])/g),
  ];
  if (members.length === 0) return text;
  const member = random.pick(members);
  const copy = random.below(2) === 0 ? member[0] : member[0].replace(/:.*$/s, ":0");
  return `${text.slice(0, member.index)}${copy},${text.slice(member.index)}`;
}
