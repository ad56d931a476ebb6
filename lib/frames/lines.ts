import { assertBytes } from "../bytes/assert-bytes.ts";
import { Carry } from "../bytes/carry.ts";
import { decodeUtf8, firstInvalidUtf8 } from "../bytes/utf8.ts";
import { MAX_BATCH, type Sink, type Stage } from "../stage/stage.ts";
import { EXCERPT_BYTES, lineFault, type LineFaultCode } from "./line-fault.ts";
import { resolveLineRules, type LineRules, type LinesOptions } from "./line-rules.ts";

const LF = 10;
const CR = 13;
/** Whole lines are decoded together in regions of at most this many bytes; a line's text pins its region. */
const REGION_BYTES = 64 * 1024;
/** A CRLF: what a line may take in the carry beyond `maxBytes`. */
const ENDING_BYTES = 2;

/**
 * Cuts bytes into lines of text, for NDJSON and other line protocols.
 *
 * A line ends at LF; one CR directly before it goes too. The text must be valid UTF-8; a byte order
 * mark stays in it. A bad line is one fault and consumes exactly that line; the next follows.
 * Of several faults in one line the first of this list counts: `empty_line`,
 * `stray_carriage_return`, `line_too_long`, `invalid_utf8`. A line that with its ending takes more
 * than `maxBytes` + 2 bytes is `line_too_long` at once, and the rest of it is dropped unread.
 * A last line without LF keeps its CR; with `lastLine: "fault"` it is `truncated_line` whatever it holds.
 *
 * Every fault has `data` with `line` (index from 0), `offset` (of the line in the stream, in bytes)
 * and `excerpt` (its first 200 bytes, decoded lossily); `line_too_long` has `maxBytes` too, and
 * `invalid_utf8` `invalidOffset`, the offset in the stream of the first bad byte.
 *
 * @returns A stage that holds at most one started line, and copies no chunk but for that.
 * @throws {RangeError} When `maxBytes` is not a whole number from 1.
 * @throws {TypeError} When a mode is not one of its words; from `push`, when a chunk is not bytes.
 */
export function lines(options: LinesOptions = {}): Stage<Uint8Array, string> {
  return new LineDecoder(resolveLineRules(options));
}

class LineDecoder implements Stage<Uint8Array, string> {
  readonly #rules: LineRules;
  readonly #carry: Carry;
  #sink!: Sink<string>;
  #out: string[] = [];
  /** Index and stream offset of the line that comes next or is under way; while dropping, the offset runs on. */
  #line = 0;
  #offset = 0;
  #dropping = false;

  constructor(rules: LineRules) {
    this.#rules = rules;
    this.#carry = new Carry(rules.maxBytes + ENDING_BYTES);
  }

  push(chunks: readonly Uint8Array[], sink: Sink<string>): void {
    this.#sink = sink;
    for (const chunk of chunks) {
      if (!sink.open) return;
      this.#chunk(chunk);
    }
    this.#flush();
  }

  end(sink: Sink<string>): void {
    this.#sink = sink;
    if (this.#carry.length === 0) return;
    const line = this.#carry.view();
    if (this.#rules.lastLine === "fault") this.#fail("truncated_line", line);
    else this.#judge(line, line);
    this.#carry.clear();
    this.#flush();
  }

  #chunk(chunk: Uint8Array): void {
    assertBytes(chunk, "lines()");
    let start = 0;
    if (this.#dropping || this.#carry.length > 0) {
      start = chunk.indexOf(LF) + 1;
      if (start === 0) return this.#keep(chunk);
      this.#complete(chunk.subarray(0, start));
    }
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > start) this.#region(chunk.subarray(start, end));
    const rest = Math.max(start, end);
    if (rest < chunk.length) this.#keep(chunk.subarray(rest));
  }

  /** Takes bytes without LF: the begin or the middle of a line. */
  #keep(bytes: Uint8Array): void {
    if (this.#dropping) this.#offset += bytes.length;
    else if (!this.#carry.append(bytes)) this.#drop(bytes);
  }

  /** Takes the end of the line under way, LF included. */
  #complete(bytes: Uint8Array): void {
    if (!this.#dropping && this.#carry.append(bytes)) {
      this.#judgeEnded(this.#carry.view());
      this.#carry.clear();
      return;
    }
    if (this.#dropping) this.#offset += bytes.length;
    else this.#drop(bytes);
    this.#dropping = false;
    this.#line += 1;
  }

  /** Gives the line under way up, as `bytes` would make it too long. */
  #drop(bytes: Uint8Array): void {
    const held = this.#carry.length;
    const missing = Math.min(bytes.length, this.#carry.maximum - held);
    this.#carry.append(bytes.subarray(0, Math.min(missing, EXCERPT_BYTES)));
    this.#fail("line_too_long", this.#carry.view().subarray(0, this.#rules.maxBytes));
    this.#carry.clear();
    this.#offset += held + bytes.length;
    this.#dropping = true;
  }

  /** Takes whole lines: decoded together where that is sure to be right, else one by one. */
  #region(bytes: Uint8Array): void {
    let start = 0;
    while (start < bytes.length && this.#sink.open) {
      const end = regionEnd(bytes, start);
      const region = bytes.subarray(start, end);
      const text = region.length > REGION_BYTES ? undefined : decodeUtf8(region);
      const scanned = text === undefined ? 0 : this.#scan(text, region);
      this.#offset += scanned;
      if (scanned < region.length) this.#oneByOne(region.subarray(scanned));
      start = end;
    }
  }

  /** Hands on the lines of a region up to the first that needs a closer look; returns the bytes done. */
  #scan(text: string, region: Uint8Array): number {
    const { empty, carriageReturn } = this.#rules;
    const longest = this.#sureLength(text, region);
    let cr = carriageReturn === "fault" ? text.indexOf("\r") : -1;
    let count = 0;
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const stop = end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;
      if (cr !== -1 && cr < start) cr = text.indexOf("\r", start);
      if (cr !== -1 && cr < stop) break;
      if (stop - start > longest) break;
      if (stop > start || empty === "emit") this.#out.push(text.slice(start, stop));
      else if (empty === "fault") break;
      start = end + 1;
      count += 1;
      if (this.#out.length === MAX_BATCH && !this.#flush()) break;
    }
    this.#line += count;
    return start === text.length ? region.length : skipLines(region, count);
  }

  /** The UTF-16 length up to which a line of this region is within the bound, whatever it holds. */
  #sureLength(text: string, region: Uint8Array): number {
    const { maxBytes } = this.#rules;
    if (region.length <= maxBytes) return maxBytes;
    // As many units as bytes means ASCII; else a unit takes three bytes at most.
    return text.length === region.length ? maxBytes : Math.floor(maxBytes / 3);
  }

  #oneByOne(region: Uint8Array): void {
    let start = 0;
    while (start < region.length && this.#sink.open) {
      const end = region.indexOf(LF, start) + 1;
      this.#judgeEnded(region.subarray(start, end));
      start = end;
    }
  }

  /** Takes one line with its LF. */
  #judgeEnded(line: Uint8Array): void {
    const cr = line.length > 1 && line[line.length - 2] === CR ? 1 : 0;
    this.#judge(line, line.subarray(0, line.length - 1 - cr));
  }

  /** Hands on or refuses one line, given with and without its ending. */
  #judge(line: Uint8Array, content: Uint8Array): void {
    const { maxBytes, empty, carriageReturn } = this.#rules;
    const hopeless = line.length > maxBytes + ENDING_BYTES;
    if (hopeless) this.#fail("line_too_long", content.subarray(0, maxBytes));
    else if (content.length === 0 && empty === "fault") this.#fail("empty_line", content);
    else if (carriageReturn === "fault" && content.includes(CR))
      this.#fail("stray_carriage_return", content);
    else if (content.length > maxBytes) this.#fail("line_too_long", content);
    else if (content.length > 0 || empty === "emit") this.#decode(content);
    this.#line += 1;
    this.#offset += line.length;
  }

  #decode(content: Uint8Array): void {
    const text = decodeUtf8(content);
    if (text === undefined) return this.#fail("invalid_utf8", content);
    this.#out.push(text);
    if (this.#out.length === MAX_BATCH) this.#flush();
  }

  #fail(code: LineFaultCode, bytes: Uint8Array): void {
    if (!this.#flush()) return;
    const [line, offset] = [this.#line, this.#offset];
    const place = { line, offset, bytes };
    if (code === "line_too_long") {
      this.#sink.fail(lineFault(code, { ...place, more: { maxBytes: this.#rules.maxBytes } }));
    } else if (code === "invalid_utf8") {
      const invalidOffset = offset + firstInvalidUtf8(bytes);
      this.#sink.fail(lineFault(code, { ...place, more: { invalidOffset } }));
    } else {
      this.#sink.fail(lineFault(code, place));
    }
  }

  /** Hands on what is finished; returns whether more is wanted. */
  #flush(): boolean {
    if (this.#out.length > 0 && this.#sink.open) {
      const out = this.#out;
      this.#out = [];
      this.#sink.next(out);
    }
    return this.#sink.open;
  }
}

/** End of the region that starts at `start`: after the last LF within reach, or else after the first one. */
function regionEnd(bytes: Uint8Array, start: number): number {
  if (bytes.length - start <= REGION_BYTES) return bytes.length;
  const end = bytes.lastIndexOf(LF, start + REGION_BYTES - 1) + 1;
  return end > start ? end : bytes.indexOf(LF, start) + 1;
}

/** Bytes of the first `count` lines. */
function skipLines(region: Uint8Array, count: number): number {
  let at = 0;
  for (let k = 0; k < count; k += 1) at = region.indexOf(LF, at) + 1;
  return at;
}
