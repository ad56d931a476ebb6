/**
 * Length-prefixed framing against a decoder written by hand for one program, and beside a peer, in
 * chunks of 64 KiB. Every task takes its turn in each round, and its best time counts; more is
 * better, 1 is the hand-written one.
 */
import * as lp from "it-length-prefixed";
import { encodeLengthPrefixed, lengthPrefixed } from "../lib/frames/mod.ts";
import { collect, type Sink, type Stage } from "../lib/stage/mod.ts";
import { cutUp, join } from "./support/bytes.ts";
import { reportAll, type Scenario } from "./support/rounds.ts";

const TOTAL_BYTES = 4 * 1024 * 1024;

await reportAll({
  "length-prefixed, 64 B frames": lengthScenario(64),
  "length-prefixed, 4 KiB frames": lengthScenario(4096),
  "length-prefixed, 256 KiB frames": lengthScenario(256 * 1024),
});

function lengthScenario(frameBytes: number): Scenario {
  const count = Math.ceil(TOTAL_BYTES / frameBytes);
  const frames = Array.from({ length: count }, () => new Uint8Array(frameBytes).fill(7));
  const options = { prefix: "u32be", maxBytes: 1 << 20 } as const;
  const u32 = cutUp(collect(encodeLengthPrefixed(options), frames).values);
  const uvarint = cutUp(collect(encodeLengthPrefixed({ maxBytes: 1 << 20 }), frames).values);
  return {
    "by hand, u32": () => handRolled(u32),
    "lengthPrefixed(), u32be": () => sumFrames(lengthPrefixed(options), u32),
    "lengthPrefixed(), uvarint": () => sumFrames(lengthPrefixed({ maxBytes: 1 << 20 }), uvarint),
    "it-length-prefixed, list": () => {
      let sum = 0;
      for (const list of lp.decode(uvarint, { maxDataLength: 1 << 20 })) sum += list.length;
      return sum;
    },
  };
}

/** A push decoder as one writes it for one program: joins the rest with the next chunk. */
function handRolled(chunks: readonly Uint8Array[]): number {
  let sum = 0;
  let parts: Uint8Array[] = [];
  let [held, wanted] = [0, 4];
  for (const chunk of chunks) {
    parts.push(chunk);
    held += chunk.length;
    if (held < wanted) continue;
    const bytes = parts.length === 1 ? chunk : join(parts, held);
    let at = 0;
    for (;;) {
      wanted = 4;
      if (bytes.length - at < wanted) break;
      const length =
        ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>>
        0;
      wanted += length;
      if (bytes.length - at < wanted) break;
      sum += bytes.subarray(at + 4, at + wanted).length;
      at += wanted;
    }
    parts = at < bytes.length ? [bytes.subarray(at)] : [];
    held = bytes.length - at;
  }
  return sum;
}

function sumFrames(stage: Stage<Uint8Array, Uint8Array>, chunks: readonly Uint8Array[]): number {
  let sum = 0;
  const sink: Sink<Uint8Array> = {
    open: true,
    next: (frames) => {
      for (const frame of frames) sum += frame.length;
    },
    fail: refuse,
  };
  for (const chunk of chunks) stage.push([chunk], sink);
  stage.end(sink);
  return sum;
}

function refuse(fault: Error): never {
  throw fault;
}
