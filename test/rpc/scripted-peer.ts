import { vi } from "vitest";
import { duplexPair } from "../../lib/streams/duplex-pair.ts";
import { jsonRpc, Peer } from "../../lib/rpc/mod.ts";
import type { PeerOptions, RpcMessage } from "../../lib/rpc/mod.ts";
import { VirtualClock } from "../../lib/testing/virtual-clock.ts";

/** The other side of a peer, which says exactly what a test tells it to and reads only when asked. */
export class ScriptedPeer {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(duplex: {
    readable: ReadableStream<Uint8Array>;
    writable: WritableStream<Uint8Array>;
  }) {
    this.#writer = duplex.writable.getWriter();
    this.#reader = duplex.readable.getReader();
    this.#writer.closed.catch(() => {});
    this.#reader.closed.catch(() => {});
  }

  /** Sends text as one chunk. */
  raw(text: string): void {
    this.#writer.write(new TextEncoder().encode(text)).catch(() => {});
  }

  /** Sends messages as lines of one chunk. */
  say(...messages: object[]): void {
    this.raw(
      messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""),
    );
  }

  /** Reads the next message; undefined at the end. */
  async hear(): Promise<RpcMessage | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end !== -1) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return JSON.parse(line) as RpcMessage;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Closes its sending direction. */
  async hangUp(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  /** Breaks its sending direction. */
  async breakDown(reason: unknown): Promise<void> {
    await this.#writer.abort(reason).catch(() => {});
  }

  /** Says that it wants no more input. */
  async refuseInput(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

/** A peer with a virtual clock, and the script on its other side. */
export function withScript(options: Partial<PeerOptions> = {}): {
  peer: Peer;
  other: ScriptedPeer;
  clock: VirtualClock;
} {
  const [mine, theirs] = duplexPair();
  const clock = new VirtualClock();
  const peer = new Peer(mine, { codec: jsonRpc(), clock, ...options });
  return { peer, other: new ScriptedPeer(theirs), clock };
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => {
      throw new Error("expected a rejection");
    },
    (reason: unknown) => reason as Error & { code?: string },
  );
}

/** Lets streams and promises settle, without time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** Counts the listeners that are left on a signal, from now on. */
export function countListeners(signal: AbortSignal): () => number {
  const left = new Set<unknown>();
  vi.spyOn(signal, "addEventListener").mockImplementation((_type: string, listener: unknown) => {
    left.add(listener);
  });
  vi.spyOn(signal, "removeEventListener").mockImplementation((_type: string, listener: unknown) => {
    left.delete(listener);
  });
  return () => left.size;
}
