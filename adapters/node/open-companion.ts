import { once } from "node:events";
import { fstatSync } from "node:fs";
import { connect, type NetConnectOpts, Socket } from "node:net";
import process from "node:process";
import { COMPANION_ENV, COMPANION_TOKEN_ENV } from "../../lib/driver/session/companion-offer.ts";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { bridgeDuplex } from "./node-streams.ts";
import { ignoreLateError } from "./pipe-fault.ts";

/** Where a host offers its companion channel, and what proves that this is the driver. */
export interface CompanionAddress {
  readonly address: string | undefined;
  readonly token: string | undefined;
}

/** A companion channel as the driver opened it. */
export interface OpenCompanion {
  readonly duplex: ByteDuplex;
  /** What the hello must show; absent where the host gave none. */
  readonly token: string | undefined;
}

/** Takes what names the companion channel out of this process's environment: no child of it may see that. */
export function takeCompanionAddress(): CompanionAddress {
  const address = process.env[COMPANION_ENV];
  const token = process.env[COMPANION_TOKEN_ENV];
  delete process.env[COMPANION_ENV];
  delete process.env[COMPANION_TOKEN_ENV];
  return { address, token };
}

/**
 * Opens the companion channel at an address.
 *
 * @returns Undefined when the host offers none, or it cannot be opened; stderr says why then.
 */
export async function openCompanion({
  address,
  token,
}: CompanionAddress): Promise<OpenCompanion | undefined> {
  if (address === undefined) return undefined;
  try {
    return { duplex: bridgeDuplex(await socketAt(address)), token };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The companion channel cannot be opened: ${why}\n`);
    return undefined;
  }
}

async function socketAt(address: string): Promise<Socket> {
  const border = address.indexOf(":");
  const kind = address.slice(0, Math.max(0, border));
  const place = address.slice(border + 1);
  if (kind === "fd") return descriptor(place);
  if (kind === "unix" || kind === "pipe") return await connected({ path: place });
  if (kind === "tcp") {
    const port = place.lastIndexOf(":");
    return await connected({ host: place.slice(0, port), port: Number(place.slice(port + 1)) });
  }
  throw new TypeError(`its address is of the unknown kind ${JSON.stringify(kind.slice(0, 40))}`);
}

/** A descriptor that is no socket belongs to somebody else: a wrapper closed ours, and something took its place. */
function descriptor(place: string): Socket {
  if (!/^[1-9]\d{0,5}$/.test(place) || Number(place) < 3)
    throw new TypeError(`${JSON.stringify(place.slice(0, 40))} is no descriptor of a channel`);
  const fd = Number(place);
  if (!fstatSync(fd).isSocket()) throw new TypeError(`descriptor ${fd} is no socket`);
  const options = { fd, readable: true, writable: true, allowHalfOpen: true };
  // Bun adopts a descriptor through connect() alone; Node and Deno through the constructor alone.
  return "Bun" in globalThis ? connect(options as never) : new Socket(options);
}

async function connected(
  where: { path: string } | { host: string; port: number },
): Promise<Socket> {
  const socket = connect({ ...where, allowHalfOpen: true } as NetConnectOpts);
  // Stays attached: between the connect and the first read an error has no other listener.
  socket.on("error", ignoreLateError);
  await once(socket, "connect");
  return socket;
}
