import type { LineRules } from "../../lib/frames/line-rules.ts";
import type { Seen } from "../stage/observe.ts";

/** Says what `lines()` must do with the whole input, in the plainest way: byte by byte, no chunks, no speed. */
export function slowLines(bytes: Uint8Array, rules: LineRules): Seen<string>[] {
  const seen: Seen<string>[] = [];
  let start = 0;
  for (let line = 0; start < bytes.length; line += 1) {
    let lf = start;
    while (lf < bytes.length && bytes[lf] !== 10) lf += 1;
    const ended = lf < bytes.length;
    const whole = bytes.slice(start, ended ? lf + 1 : lf);
    judge(whole, { rules, line, offset: start, ended, seen });
    start += whole.length;
  }
  return seen;
}

interface Place {
  readonly rules: LineRules;
  readonly line: number;
  readonly offset: number;
  readonly ended: boolean;
  readonly seen: Seen<string>[];
}

function judge(whole: Uint8Array, { rules, line, offset, ended, seen }: Place): void {
  let content = [...whole];
  if (ended) content.pop();
  if (ended && content.at(-1) === 13) content.pop();
  const fault = (code: string, more: object = {}, length = 200): void => {
    const excerpt = lossy(content.slice(0, Math.min(200, length)));
    seen.push({ fault: code, data: { line, offset, excerpt, ...more } });
  };
  const { maxBytes } = rules;
  if (whole.length > maxBytes + 2) return fault("line_too_long", { maxBytes }, maxBytes);
  if (!ended && rules.lastLine === "fault") return fault("truncated_line");
  if (content.length === 0 && rules.empty === "fault") return fault("empty_line");
  if (content.length === 0 && rules.empty === "skip") return;
  if (rules.carriageReturn === "fault" && content.includes(13))
    return fault("stray_carriage_return");
  if (content.length > maxBytes) return fault("line_too_long", { maxBytes });
  const value = strict(content);
  if (value === undefined)
    return fault("invalid_utf8", { invalidOffset: offset + firstBad(content) });
  seen.push({ value });
}

function lossy(bytes: number[]): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

export function strict(bytes: Iterable<number>): string | undefined {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(
      Uint8Array.from(bytes),
    );
  } catch {
    return undefined;
  }
}

/** The length of the longest valid prefix: a decoder is fed until it throws, then prefixes are tried. */
export function firstBad(bytes: readonly number[]): number {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let end = 0;
  try {
    for (; end < bytes.length; end += 1)
      decoder.decode(Uint8Array.of(bytes[end]!), { stream: true });
  } catch {
    // `end` is the byte that it did not take
  }
  while (strict(bytes.slice(0, end)) === undefined) end -= 1;
  return end;
}
