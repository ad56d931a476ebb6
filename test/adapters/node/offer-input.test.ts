import { existsSync, readdirSync, statSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { offerInput } from "../../../adapters/node/offer-input.ts";
import type { InputOffer } from "../../../lib/driver/session/input-offer.ts";
import { temporaryFiles } from "../../driver/support/companion-process.ts";
import { waitFor } from "../../support/processes.ts";
import { linuxOnly } from "./start.ts";

linuxOnly();

/** A source that says what became of it. */
class Source {
  returned = false;
  taken = 0;
  readonly #chunks: readonly Uint8Array[];
  readonly #then: () => Promise<void>;

  constructor(chunks: readonly Uint8Array[], then: () => Promise<void> = () => Promise.resolve()) {
    this.#chunks = chunks;
    this.#then = then;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (const chunk of this.#chunks) {
        this.taken += 1;
        yield chunk;
      }
      await this.#then();
    } finally {
      this.returned = true;
    }
    return undefined;
  }
}

async function open(offer: InputOffer): Promise<Socket> {
  const socket = connect({ path: offer.handle.value, allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function bytesOf(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const chunk of socket) bytes += (chunk as Uint8Array).length;
  return bytes;
}

const never = (): Promise<void> => new Promise(() => {});
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error as { readonly code: unknown }).code,
  );

describe("offerInput()", () => {
  test.each([
    ["bytes", new Uint8Array(3_000_000)],
    ["no bytes", new Uint8Array(0)],
    ["chunks", new Source(Array.from({ length: 50 }, () => new Uint8Array(60_000)))],
    ["a stream", new Blob([new Uint8Array(3_000_000)]).stream()],
  ])("gives %s to whoever comes first, and its address is gone", async (_name, source) => {
    const folder = temporaryFiles();
    const offer = await offerInput(source);
    const { kind, value } = offer.handle;
    expect(kind).toBe("socket");
    expect(statSync(value).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(value)).mode & 0o777).toBe(0o700);
    const socket = await open(offer);
    expect(await waitFor(() => readdirSync(folder).length === 0)).toBe(true);
    const length = await bytesOf(socket);
    expect(length).toBe(source instanceof Uint8Array ? source.length : 3_000_000);
    expect(await offer.sent).toBe(length);
    offer.withdraw(undefined);
    expect(await offer.sent).toBe(length);
  });

  test("gives all to a reader that ends its own half at once, or says something", async () => {
    temporaryFiles();
    const offer = await offerInput(new Uint8Array(3_000_000));
    const socket = await open(offer);
    socket.end("hello?");
    expect(await bytesOf(socket)).toBe(3_000_000);
    expect(await offer.sent).toBe(3_000_000);
  });

  test("that is withdrawn before anybody came lets its source go", async () => {
    const folder = temporaryFiles();
    const source = new Source([new Uint8Array(1)]);
    const offer = await offerInput(source);
    offer.withdraw(new Error("over"));
    offer.withdraw(new Error("over"));
    expect(await codeOf(offer.sent)).toBe("input_unread");
    expect(source.taken).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(offer.handle.value)).toBe(false);
  });

  test("that is withdrawn in the midst ends the connection, a moment later", async () => {
    temporaryFiles();
    const source = new Source([new Uint8Array(10)], never);
    const offer = await offerInput(source);
    const socket = await open(offer);
    expect((await once(socket, "data")) as unknown[]).toMatchObject([{ length: 10 }]);
    offer.withdraw(new Error("over"));
    expect(await codeOf(offer.sent)).toBe("input_unread");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(socket.readableEnded).toBe(false);
    await once(socket, "end");
  });

  test("whose reader goes away lets its source go, also one that never gives a chunk", async () => {
    temporaryFiles();
    const endless = new Source(Array.from({ length: 1_000 }, () => new Uint8Array(60_000)));
    for (const source of [endless, new Source([new Uint8Array(10)], never)]) {
      const offer = await offerInput(source);
      const socket = await open(offer);
      await once(socket, "data");
      socket.destroy();
      if (source === endless) {
        expect(await codeOf(offer.sent)).toBe("input_unread");
        expect(source.returned).toBe(true);
      } else {
        // Nothing is written, so that only the withdrawal tells.
        offer.withdraw(undefined);
        expect(await codeOf(offer.sent)).toBe("input_unread");
      }
    }
    expect(endless.taken).toBeLessThan(100);
  });

  test("whose source fails does not end as if it were whole", async () => {
    temporaryFiles();
    const source = new Source([new Uint8Array(10)], () => Promise.reject(new Error("gone")));
    const offer = await offerInput(source);
    const socket = await open(offer);
    socket.resume();
    expect(await codeOf(offer.sent)).toBe("stream_aborted");
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(socket.readableEnded).toBe(false);
    offer.withdraw(undefined);
    await once(socket, "end");
  });

  test("rejects what is no source, and leaves nothing", async () => {
    temporaryFiles();
    await expect(offerInput("text" as never)).rejects.toThrow(TypeError);
  });

  test("closes a second reader", async () => {
    temporaryFiles();
    const offer = await offerInput(new Source([new Uint8Array(10)], never));
    const counts = [1, 2].map(async () => await bytesOf(connect({ path: offer.handle.value })));
    // Whether it gets in at all or is closed again is the system's to say.
    expect(await Promise.race(counts.map((count) => count.catch(() => 0)))).toBe(0);
    offer.withdraw(undefined);
    const all = await Promise.all(counts.map((count) => count.catch(() => 0)));
    expect(new Set(all)).toEqual(new Set([0, 10]));
  });
});
