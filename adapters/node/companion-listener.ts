import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import process from "node:process";
import type { Clock } from "../../lib/clock.ts";
import { SluiceError } from "../../lib/errors.ts";
import { proveChannel } from "../../lib/driver/companion/prove-channel.ts";
import type { CompanionOffer } from "../../lib/driver/session/companion-offer.ts";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { bridgeDuplex } from "./node-streams.ts";
import { ignoreLateError } from "./pipe-fault.ts";
import { listenPrivately } from "./private-socket.ts";

/** Connections that have not shown the token yet, at most; the oldest is dropped for a new one. */
const MAX_UNPROVED = 16;
/** Milliseconds that a connection has to show it. */
const PROOF_TIMEOUT = 1_000;

/** What a companion channel can be listened for on. */
export type ListeningVia = "unix" | "pipe" | "tcp";

/** An offer that listens on an address. */
export interface ListeningOffer extends CompanionOffer {
  /** What the driver's environment names. */
  readonly address: string;
  readonly channel: Promise<ByteDuplex>;
}

/** What a connection must show, and whose time it takes. */
export interface ListeningSetup {
  readonly token: string;
  readonly clock: Clock;
}

/**
 * Listens for the one driver that shows the token; then it stops, and the address is gone.
 *
 * @param via `unix`: a socket of mode 0600 in a folder of mode 0700; `pipe`: a Windows named pipe;
 *   `tcp`: a port on the loopback address.
 * @throws {SluiceError} `companion_unavailable` when the address cannot be listened on.
 */
export async function listenForCompanion(
  via: ListeningVia,
  setup: ListeningSetup,
): Promise<ListeningOffer> {
  const server = createServer({ allowHalfOpen: true });
  const { address, close } = await listening(server, via);
  const door = new Door(setup, close);
  server.on("connection", (socket) => door.knock(socket));
  return { token: setup.token, channel: door.opened, address, withdraw: () => door.close() };
}

/** Lets the one connection in that proves itself. */
class Door {
  readonly opened: Promise<ByteDuplex>;
  readonly #setup: ListeningSetup;
  readonly #stopListening: () => void;
  readonly #found = Promise.withResolvers<ByteDuplex>();
  readonly #unproved: Set<Socket> = new Set();
  #closed = false;

  constructor(setup: ListeningSetup, stopListening: () => void) {
    this.#setup = setup;
    this.#stopListening = stopListening;
    this.opened = this.#found.promise;
  }

  knock(socket: Socket): void {
    // Stays attached: a reset must not end the host.
    socket.on("error", ignoreLateError);
    if (this.#closed) return void socket.destroy();
    if (this.#unproved.size >= MAX_UNPROVED) this.#dropOldest();
    this.#unproved.add(socket);
    void this.#judge(socket);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopListening();
    for (const socket of this.#unproved) socket.destroy();
    this.#unproved.clear();
  }

  async #judge(socket: Socket): Promise<void> {
    const proof = { ...this.#setup, timeout: PROOF_TIMEOUT };
    const channel = await proveChannel(bridgeDuplex(socket), proof);
    // One that was dropped meanwhile is out, whatever it has shown.
    if (!this.#unproved.delete(socket) || channel === undefined) return void socket.destroy();
    this.close();
    this.#found.resolve(channel);
  }

  #dropOldest(): void {
    const [oldest] = this.#unproved;
    if (oldest === undefined) return;
    this.#unproved.delete(oldest);
    oldest.destroy();
  }
}

interface Listening {
  readonly address: string;
  readonly close: () => void;
}

async function listening(server: Server, via: ListeningVia): Promise<Listening> {
  try {
    if (via === "unix") {
      const socket = await listenPrivately(server, "companion");
      return { address: `unix:${socket.path}`, close: () => socket.close() };
    }
    server.on("error", ignoreLateError);
    const pipe = `\\\\.\\pipe\\sluice-${process.pid}-${randomBytes(16).toString("hex")}`;
    server.listen(via === "tcp" ? { host: "127.0.0.1", port: 0 } : { path: pipe });
    await once(server, "listening");
    const close = (): void => void server.close();
    if (via === "pipe") return { address: `pipe:${pipe}`, close };
    return { address: `tcp:127.0.0.1:${(server.address() as AddressInfo).port}`, close };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SluiceError(
      "companion_unavailable",
      `The companion channel cannot be offered via ${via}: ${why}`,
      { cause },
    );
  }
}
