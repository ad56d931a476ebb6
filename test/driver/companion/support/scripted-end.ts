import { COMPANION_PROTOCOL, type StreamIds } from "../../../../lib/driver/companion/mod.ts";
import type { ByteDuplex } from "../../../../lib/streams/duplex.ts";
import { type Block, BlockReader, encodeBlocks } from "./blocks.ts";
import { stream } from "./ids.ts";

/** One end of a companion channel played block by block. */
export class ScriptedEnd {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #received = new BlockReader();
  /** Whether the other side has ended its half. */
  ended = false;

  constructor(duplex: ByteDuplex) {
    this.#writer = duplex.writable.getWriter();
    void this.#read(duplex.readable);
  }

  /** Blocks that came since the last call. */
  async take(): Promise<Block[]> {
    await settle();
    return this.#received.blocks.splice(0);
  }

  /** Writes blocks and lets the other side deal with them. */
  async send(...blocks: readonly Block[]): Promise<void> {
    await this.raw(encodeBlocks(blocks));
  }

  async raw(bytes: Uint8Array): Promise<void> {
    this.#writer.write(bytes).catch(() => {});
    await settle();
  }

  async end(): Promise<void> {
    this.#writer.close().catch(() => {});
    await settle();
  }

  async #read(readable: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of readable) this.#received.push(chunk);
    } catch {
      // The other side broke the channel off.
    }
    this.ended = true;
  }
}

/** Lets everything that is due run. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

export function hello(
  more: { window?: number; token?: string; max_frame_bytes?: number } = {},
): Block {
  return {
    type: "hello",
    protocol: COMPANION_PROTOCOL,
    max_frame_bytes: 262_144,
    window: 262_144,
    ...more,
  };
}

/** A data frame of a stream. */
export function frame(
  id: string | StreamIds,
  sequence: number,
  { payload = "", final = false }: { payload?: string | Uint8Array; final?: boolean } = {},
): Block {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const ids = typeof id === "string" ? stream(id) : id;
  return { header: { ...ids, sequence, length: bytes.length, final }, payload: bytes };
}

export function credit(id: string | StreamIds, bytes: number): Block {
  return { type: "credit", ...(typeof id === "string" ? stream(id) : id), bytes };
}

export function abort(id: string | StreamIds, reason = "broken"): Block {
  return { type: "abort", ...(typeof id === "string" ? stream(id) : id), reason };
}

export function stop(id: string | StreamIds): Block {
  return { type: "stop", ...(typeof id === "string" ? stream(id) : id) };
}

/** The text of a payload or a chunk. */
export function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** Marks a promise that is looked at later. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
