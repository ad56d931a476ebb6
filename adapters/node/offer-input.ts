import { createServer, type Socket } from "node:net";
import { type ByteSourceReader, openSource } from "../../lib/driver/companion/byte-source.ts";
import { type ByteSource, CompanionFaultCode } from "../../lib/driver/companion/mod.ts";
import type { Timer } from "../../lib/clock.ts";
import type { InputOffer } from "../../lib/driver/session/input-offer.ts";
import { SluiceError } from "../../lib/errors.ts";
import { nodeClock } from "./node-clock.ts";
import { bridgeWritable } from "./node-streams.ts";
import { ignoreLateError } from "./pipe-fault.ts";
import { listenPrivately } from "./private-socket.ts";

/** Milliseconds in which the reader of a withdrawn input hears of its cancel before the connection ends. */
const CLOSE_DELAY = 100;

/**
 * Offers an input on a Unix socket of mode 0600 in a folder of mode 0700: whoever connects first gets
 * all of it and its end, nobody else gets in, and the address is gone from then on.
 *
 * A source that fails leaves the connection open, without an end, and a withdrawal does so for a moment:
 * to its reader an end would look like that of the input, so it must hear of its cancel before.
 *
 * @throws {TypeError} When the source is none, or is locked.
 * @throws {RangeError} When the path of temporary files is too long for a socket.
 */
export async function offerInput(source: ByteSource): Promise<InputOffer> {
  const bytes = openSource(source);
  const server = createServer({ allowHalfOpen: true });
  const socket = await listenPrivately(server, "input").catch((error: unknown) => {
    bytes.cancel(error);
    throw error;
  });
  const transfer = new Transfer(bytes);
  server.on("connection", (connection) => {
    // Stays attached: a reader that goes away must not end the host.
    connection.on("error", ignoreLateError);
    if (transfer.begun) connection.destroy();
    else {
      socket.close();
      transfer.begin(connection);
    }
  });
  return {
    handle: { kind: "socket", value: socket.path },
    sent: transfer.sent,
    withdraw(reason) {
      socket.close();
      transfer.withdraw(reason);
    },
  };
}

/** One input on its way to one reader. */
class Transfer {
  readonly sent: Promise<number>;
  readonly #sent = Promise.withResolvers<number>();
  readonly #source: ByteSourceReader;
  #reader: Socket | undefined;
  #bytes = 0;
  #over = false;
  #closing: Timer | undefined;

  constructor(source: ByteSourceReader) {
    this.#source = source;
    this.sent = this.#sent.promise;
    this.sent.catch(ignoreLateError);
  }

  get begun(): boolean {
    return this.#reader !== undefined || this.#over;
  }

  begin(reader: Socket): void {
    this.#reader = reader;
    // The reader has nothing to say; what it says all the same must not turn our end into a reset.
    reader.resume();
    reader.once("close", () => {
      this.#closing?.cancel();
      this.#unread(undefined);
    });
    void this.#run(reader);
  }

  /** Sends nothing more, and closes the connection in a moment. */
  withdraw(reason: unknown): void {
    this.#unread(reason);
    const reader = this.#reader;
    if (reader === undefined || reader.destroyed) return;
    this.#closing ??= nodeClock.setTimer(() => reader.destroy(), CLOSE_DELAY);
  }

  async #run(reader: Socket): Promise<void> {
    const writer = bridgeWritable(reader).writable.getWriter();
    try {
      for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
        if (this.#over) return;
        if (!(await succeeds(writer.write(chunk)))) return this.#gone(reader);
        this.#bytes += chunk.length;
      }
      if (this.#over) return;
    } catch (cause) {
      return this.#settle(() => this.#sent.reject(sourceFailed(cause)));
    }
    if (!(await succeeds(writer.close()))) return this.#gone(reader);
    this.#settle(() => this.#sent.resolve(this.#bytes));
  }

  #next(): Promise<Uint8Array | undefined> {
    const { whole } = this.#source;
    if (whole === undefined) return this.#source.next();
    return Promise.resolve(this.#bytes < whole.length ? whole : undefined);
  }

  #gone(reader: Socket): void {
    this.#unread(undefined);
    reader.destroy();
  }

  #unread(cause: unknown): void {
    this.#settle(() => {
      this.#source.cancel(cause);
      this.#sent.reject(
        new SluiceError(
          CompanionFaultCode.InputUnread,
          `The driver did not read its input to the end: ${this.#bytes} bytes were sent`,
          { cause, data: { bytes: this.#bytes } },
        ),
      );
    });
  }

  #settle(how: () => void): void {
    if (this.#over) return;
    this.#over = true;
    how();
  }
}

/** A reader that is gone is no failure but its own choice. */
function succeeds(writing: Promise<void>): Promise<boolean> {
  return writing.then(
    () => true,
    () => false,
  );
}

function sourceFailed(cause: unknown): SluiceError {
  const message = "The source of the input failed, so that the driver did not get all of it";
  return new SluiceError(CompanionFaultCode.StreamAborted, message, { cause });
}
