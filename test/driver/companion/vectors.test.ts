import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  CompanionDriver,
  type CompanionFault,
  CompanionHost,
  type CompanionOptions,
  type IncomingStream,
  type InvocationIds,
  type OutgoingStream,
  type StreamIds,
} from "../../../lib/driver/companion/mod.ts";
import { isSluiceError, SluiceError } from "../../../lib/errors.ts";
import { duplexPair } from "../../../lib/streams/mod.ts";
import {
  asOut,
  expand,
  readVectors,
  type Vector,
  type VectorBytes,
  vectorsDir,
  type VectorOut,
} from "../../support/vectors.ts";
import { type Block, BlockReader, type DataFrame, encodeBlocks } from "./support/blocks.ts";
import { ScriptedEnd, settle, text } from "./support/scripted-end.ts";

type ControlBlock = Exclude<Block, DataFrame>;
type BlockVector =
  | ControlBlock
  | { readonly header: DataFrame["header"]; readonly payload: VectorOut };

interface BytesIn {
  readonly concat: readonly VectorBytes[];
  readonly max_frame_bytes?: number;
}
interface BytesWant {
  readonly ok: boolean;
  readonly blocks: readonly BlockVector[];
  readonly canonical?: boolean;
  readonly code?: string;
  readonly offset?: number;
}

function load<I, W>(file: string): Vector<I, W>[] {
  return existsSync(join(vectorsDir, "companion")) ? readVectors<I, W>("companion", file) : [];
}

function shown(block: Block): BlockVector {
  return "header" in block ? { header: block.header, payload: asOut(block.payload) } : block;
}

describe("blocks.ndjson", () => {
  const vectors = load<BytesIn, BytesWant>("blocks.ndjson");
  test.skipIf(vectors.length === 0)("has vectors", () =>
    expect(vectors.length).toBeGreaterThan(100),
  );

  test.each(vectors)("$name", ({ in: given, want }) => {
    const bytes = expand(given);
    for (const size of [bytes.length + 1, 1, 3, 1000]) {
      if (size < 100 && bytes.length > 20_000) continue;
      const reader = new BlockReader(given.max_frame_bytes);
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      reader.end();
      expect(reader.blocks.map(shown)).toEqual(want.blocks);
      expect(reader.fault?.code).toBe(want.code);
      if (!want.ok) expect(reader.fault?.data["offset"]).toBe(want.offset);
      if (want.canonical === true) expect(encodeBlocks(reader.blocks)).toEqual(bytes);
    }
  });
});

interface Read {
  readonly stream: StreamIds;
  readonly text?: string;
  readonly done?: true;
  readonly error?: string;
}
interface Step extends InvocationIds, Omit<Read, "stream"> {
  readonly peer?: readonly BlockVector[];
  readonly peer_ends?: true;
  readonly do?: string;
  readonly stream: StreamIds;
  readonly want?: object | null;
  readonly code?: string;
  readonly source?: string;
  readonly reason?: string;
  readonly pending?: true;
  readonly out?: readonly BlockVector[];
  readonly reads?: readonly Read[];
  readonly fault?: string;
  readonly ends?: true;
}
interface Script {
  readonly role: "host" | "driver";
  readonly options: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

describe("scripts.ndjson", () => {
  const vectors = load<Script, never>("scripts.ndjson");
  test.skipIf(vectors.length === 0)("has vectors", () =>
    expect(vectors.length).toBeGreaterThan(40),
  );

  test.each(vectors)("$name", async ({ in: script }) => {
    const side = new Side(script);
    for (const step of script.steps) await side.step(step);
    side.close();
  });
});

/** The side under test, and the other one. */
class Side {
  readonly #peer: ScriptedEnd;
  readonly #host: CompanionHost | undefined;
  readonly #driver: CompanionDriver | undefined;
  readonly #faults: CompanionFault[] = [];
  readonly #incoming = new Map<string, IncomingStream>();
  readonly #readers = new Map<string, ReadableStreamDefaultReader<Uint8Array>>();
  readonly #outgoing = new Map<string, OutgoingStream>();
  readonly #settled: Read[] = [];

  constructor({ role, options }: Script) {
    const [here, there] = duplexPair();
    const own: CompanionOptions = {
      token: options["token"] as string | undefined,
      companionWindow: options["window"] as number | undefined,
      serialStreamBytes: options["serial_stream_bytes"] as number | undefined,
      earlyBytes: options["early_bytes"] as number | undefined,
      onFault: (fault) => void this.#faults.push(fault),
    };
    if (role === "host") this.#host = new CompanionHost(here, own);
    else this.#driver = new CompanionDriver(here, own);
    this.#peer = new ScriptedEnd(there);
  }

  async step(step: Step): Promise<void> {
    if (step.peer !== undefined) await this.#peer.send(...step.peer.map(parsed));
    else if (step.peer_ends === true) await this.#peer.end();
    else await this.#do(step);
    const out = (await this.#peer.take()).map(shown);
    if (step.out !== undefined) {
      expect(out).toHaveLength(step.out.length);
      expect(out).toMatchObject(step.out.map(withoutWildcard));
    }
    expect(this.#settled.splice(0)).toEqual(step.reads ?? []);
    expect(this.#faults.splice(0).map(({ code }) => code)).toEqual(
      step.fault === undefined ? [] : [step.fault],
    );
    if (step.ends === true) expect(this.#peer.ended).toBe(true);
  }

  close(): void {
    this.#host?.close();
    void this.#driver?.close();
  }

  async #do(step: Step): Promise<void> {
    const key = JSON.stringify(step.stream);
    switch (step.do) {
      case "ready":
        return await this.#ready(step);
      case "start":
        return this.#host!.startInvocation(step);
      case "end":
        return (this.#host ?? this.#driver)!.endInvocation(step);
      case "announce":
        return this.#attempt(step, () =>
          this.#incoming.set(
            key,
            this.#host?.expect(step.stream) ?? this.#driver!.input(step.stream),
          ),
        );
      case "read":
        return await this.#read(step);
      case "discard":
        return this.#incoming.get(key)!.discard(new SluiceError(step.code!, "Not wanted"));
      case "cancel":
        return await this.#incoming.get(key)!.data.cancel();
      case "ended": {
        const { outcome } = this.#incoming.get(key)!;
        return step.want === null
          ? expect(outcome).toBeUndefined()
          : expect(outcome).toMatchObject(step.want!);
      }
      case "send": {
        const source = new TextEncoder().encode(step.source);
        return this.#attempt(step, () =>
          this.#outgoing.set(
            key,
            this.#host?.sendInput(step.stream, source) ??
              this.#driver!.sendData(step.stream, source),
          ),
        );
      }
      case "start_input":
        return this.#outgoing.get(key)!.start();
      case "abort":
        return this.#outgoing.get(key)!.abort(new SluiceError("aborted", step.reason!));
      case "sent":
        return expect(await this.#outgoing.get(key)!.ended).toMatchObject(step.want!);
      case "half_close":
        return await this.#host!.halfClose();
      default:
        throw new Error(`Unknown step ${step.do}`);
    }
  }

  async #ready({ want, error }: Step): Promise<void> {
    const { ready } = (this.#host ?? this.#driver)!;
    if (error === undefined) expect(await ready).toMatchObject(want!);
    else await expect(ready).rejects.toMatchObject({ code: error });
  }

  #attempt({ error }: Step, action: () => void): void {
    if (error === undefined) action();
    else expect(action).toThrow(expect.objectContaining({ code: error }) as Error);
  }

  async #read({ stream, pending, text: want, done, error }: Step): Promise<void> {
    const key = JSON.stringify(stream);
    const reader = this.#readers.get(key) ?? this.#incoming.get(key)!.data.getReader();
    this.#readers.set(key, reader);
    const settled = reader.read().then(
      (result): Read =>
        result.done ? { stream, done: true } : { stream, text: text(result.value)! },
      (thrown: unknown): Read => {
        if (!isSluiceError(thrown)) throw thrown;
        return { stream, error: thrown.code };
      },
    );
    if (pending === true) void settled.then((read) => this.#settled.push(read));
    else {
      expect(await settled).toEqual({
        stream,
        ...(want !== undefined && { text: want }),
        ...(done !== undefined && { done }),
        ...(error !== undefined && { error }),
      });
    }
    await settle();
  }
}

function parsed(block: BlockVector): Block {
  if (!("header" in block)) return block;
  if (!("text" in block.payload)) throw new Error("Payloads of scripts are texts");
  return { header: block.header, payload: new TextEncoder().encode(block.payload.text) };
}

function withoutWildcard(block: BlockVector): object {
  if (!("reason" in block) || block.reason !== "*") return block;
  const { reason: _, ...rest } = block;
  return rest;
}
