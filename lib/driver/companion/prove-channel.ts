import type { Clock } from "../../clock.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { type BlockPart, blockParts } from "./block-parts.ts";
import { checkHello } from "./hello.ts";

/** What a connection must show, and how long it may take. */
export interface Proof {
  readonly token: string;
  readonly clock: Clock;
  /** Milliseconds until the first block must have come. */
  readonly timeout: number;
}

/**
 * Reads the first block of a connection and checks that it is a hello with the right token.
 *
 * @returns The channel with everything that came still in it; undefined, and the connection ended,
 *   when it did not prove itself in time. Never rejects.
 */
export async function proveChannel(
  duplex: ByteDuplex,
  proof: Proof,
): Promise<ByteDuplex | undefined> {
  const reader = duplex.readable.getReader();
  const timer = proof.clock.setTimer(() => void reader.cancel().catch(() => {}), proof.timeout);
  try {
    const chunks = await firstBlock(reader, proof.token);
    return { readable: replayed(chunks, reader), writable: duplex.writable };
  } catch {
    await Promise.allSettled([reader.cancel(), duplex.writable.abort()]);
    return undefined;
  } finally {
    timer.cancel();
  }
}

/** Reads until the hello is whole; throws when it is none, or not the right one. */
async function firstBlock(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  token: string,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  const parts: BlockPart[] = [];
  const stage = blockParts(1);
  const sink = {
    open: true,
    next: (made: readonly BlockPart[]) => void parts.push(...made),
    fail() {},
  };
  while (parts.length === 0) {
    const { done, value } = await reader.read();
    if (done) throw new TypeError("The connection ended before its hello");
    chunks.push(value);
    readInto(stage, { value, sink, parts });
  }
  const [first] = parts;
  checkHello(first?.kind === "control" ? first.block : undefined, { role: "host", token });
  return chunks;
}

/** What follows a good hello in the same chunk is not judged here. */
function readInto(
  stage: ReturnType<typeof blockParts>,
  {
    value,
    sink,
    parts,
  }: { value: Uint8Array; sink: Parameters<typeof stage.push>[1]; parts: readonly BlockPart[] },
): void {
  try {
    stage.push([value], sink);
  } catch (error) {
    if (parts.length === 0) throw error;
  }
}

function replayed(
  chunks: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = chunks.shift() ?? (await reader.read()).value;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      async cancel(reason) {
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
