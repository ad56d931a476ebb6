import { Socket } from "node:net";
import { bridgeDuplex } from "../../adapters/node/node-streams.ts";
import { nodeSha256 } from "../../adapters/node/sha256.ts";
import { encodeControlBlock } from "../../lib/driver/companion/encode-block.ts";
import type { DataFrameHeader } from "../../lib/driver/mod.ts";
import { resolvePrefixRules, writePrefix } from "../../lib/frames/length-prefix.ts";
import { canonicalJson } from "../../lib/json/mod.ts";
import { COMPANION_PROTOCOL, CompanionDriver } from "../../lib/driver/companion/mod.ts";

const ids = {
  invocation_id: "0190a3c4-7b2e-7c11-8f00-000000000001",
  attempt_id: "0190a3c4-7b2e-7c11-9f00-000000000001",
  stream_id: "bench",
};

/**
 * What to write: ready frames of a serial driver, the same once credit was given for all of them, or
 * frames of the kit's own driver end.
 */
export interface Writing {
  readonly mode: "serial" | "granted" | "credit";
  readonly total: number;
  readonly size: number;
  readonly digest: boolean;
}

/** The far end of the bench: writes to descriptor 3. */
export async function writeCompanion(writing: Writing): Promise<void> {
  const socket = new Socket({ fd: 3, readable: true, writable: true, allowHalfOpen: true });
  if (writing.mode === "credit") await credit(socket, writing);
  else await plain(socket, writing);
}

async function credit(socket: Socket, { total, size, digest }: Writing): Promise<void> {
  const driver = new CompanionDriver(bridgeDuplex(socket), {
    sha256: digest ? nodeSha256 : false,
  });
  await driver.ready;
  await driver.sendData(ids, chunks(total, size)).ended;
  await driver.close();
}

async function* chunks(total: number, size: number): AsyncGenerator<Uint8Array> {
  const payload = new Uint8Array(size).fill(120);
  for (let sent = 0; sent < total; sent += size) yield payload;
}

async function plain(socket: Socket, { mode, total, size }: Writing): Promise<void> {
  const payload = new Uint8Array(size).fill(120);
  socket.write(
    encodeControlBlock({
      type: "hello",
      protocol: COMPANION_PROTOCOL,
      max_frame_bytes: 262_144,
      window: mode === "serial" ? 0 : 1,
    }),
  );
  if (mode === "granted") await credited(socket);
  for (let sent = 0, sequence = 0; sent < total; sent += size, sequence += 1) {
    const header = { ...ids, sequence, length: size, final: sent + size >= total };
    socket.cork();
    socket.write(frameHead(header));
    const more = socket.write(payload);
    socket.uncork();
    if (!more) await new Promise((resolve) => void socket.once("drain", resolve));
  }
  socket.end();
  socket.resume();
}

/** Waits for the host's first credit. */
function credited(socket: Socket): Promise<void> {
  let text = "";
  return new Promise((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (text.includes('"credit"')) resolve();
    });
  });
}

/** All of a frame but its payload. */
function frameHead(header: DataFrameHeader): Uint8Array {
  const text = Buffer.from(canonicalJson(header));
  const prefix = resolvePrefixRules({});
  const head = Buffer.alloc(text.length + 8);
  let at = writePrefix(prefix, text.length, head);
  at += text.copy(head, at);
  at += writePrefix(prefix, header.length, head.subarray(at));
  return head.subarray(0, at);
}
