import { existsSync, readdirSync, statSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  listenForCompanion,
  type ListeningOffer,
} from "../../../adapters/node/companion-listener.ts";
import { nodeClock } from "../../../adapters/node/node-clock.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { waitFor } from "../../support/processes.ts";
import { temporaryFiles } from "../../driver/support/companion-process.ts";
import { linuxOnly } from "./start.ts";

linuxOnly();

const TOKEN = "5a".repeat(24);

async function listen(
  via: "unix" | "tcp",
  clock = nodeClock,
): Promise<ListeningOffer & { readonly place: string }> {
  const offer = await listenForCompanion(via, { token: TOKEN, clock });
  onTestFinished(() => offer.withdraw());
  return Object.assign(offer, { place: offer.address.slice(via.length + 1) });
}

async function knock(place: string): Promise<Socket & { readonly gone: Promise<unknown> }> {
  const [host, port] = place.split(":");
  const socket = connect(
    port === undefined ? { path: place } : { host: host!, port: Number(port) },
  );
  socket.on("error", () => {});
  socket.resume();
  const gone = new Promise((resolve) => socket.once("close", resolve));
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return Object.assign(socket, { gone });
}

function hello(token: string): Buffer {
  const text = JSON.stringify({
    max_frame_bytes: 262_144,
    protocol: "sluice.companion.v1",
    token,
    type: "hello",
    window: 0,
  });
  return Buffer.from([(text.length & 127) | 128, text.length >> 7, ...Buffer.from(text)]);
}

async function isOpened(offer: ListeningOffer): Promise<boolean> {
  let opened = false;
  void offer.channel.then(() => (opened = true));
  return await waitFor(() => opened, 1_000);
}

test("listenForCompanion() makes a socket of mode 0600 in a folder of mode 0700, and a short path", async () => {
  temporaryFiles();
  const offer = await listen("unix");
  const { place } = offer;
  expect(statSync(place).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(place)).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(place)).toBeLessThan(104);
  offer.withdraw();
  offer.withdraw();
  expect(existsSync(dirname(place))).toBe(false);
});

test("listenForCompanion() listens on the loopback address alone", async () => {
  const { address } = await listen("tcp");
  expect(address).toMatch(/^tcp:127\.0\.0\.1:\d+$/);
});

test.each(["unix", "tcp"] as const)(
  "listenForCompanion() lets the right token in and nobody after it, over %s",
  async (via) => {
    const folder = temporaryFiles();
    const offer = await listen(via);
    const wrong = await knock(offer.place);
    const silent = await knock(offer.place);
    wrong.write(hello("00".repeat(24)));
    await wrong.gone;
    const right = await knock(offer.place);
    // In pieces, and with what follows it in the last one.
    const bytes = Buffer.concat([hello(TOKEN), Buffer.from("more")]);
    right.write(bytes.subarray(0, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    right.write(bytes.subarray(1));
    const channel = await offer.channel;
    await silent.gone;
    expect(readdirSync(folder)).toEqual([]);
    const reader = channel.readable.getReader();
    let read = Buffer.alloc(0);
    while (read.length < bytes.length)
      read = Buffer.concat([read, (await reader.read()).value ?? Buffer.alloc(0)]);
    expect(read).toEqual(bytes);
    const late = connect(
      via === "unix" ? { path: offer.place } : { port: Number(offer.place.split(":")[1]) },
    );
    const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toMatch(/^(ENOENT|ECONNREFUSED)$/);
    await reader.cancel();
    await channel.writable.abort();
    await right.gone;
  },
);

test("listenForCompanion() holds 16 unproved connections and drops the oldest for a new one", async () => {
  temporaryFiles();
  const offer = await listen("unix");
  const sockets: Socket[] = [];
  for (let number = 0; number < 40; number += 1) sockets.push(await knock(offer.place));
  const gone = (): number => sockets.filter((socket) => socket.closed).length;
  expect(await waitFor(() => gone() === 24)).toBe(true);
  expect(sockets.map((socket) => socket.closed)).toEqual(
    Array.from({ length: 40 }, (_, number) => number < 24),
  );
  (await knock(offer.place)).write(hello(TOKEN));
  expect(await isOpened(offer)).toBe(true);
  expect(await waitFor(() => gone() === 40)).toBe(true);
});

test("listenForCompanion() gives a connection one second", async () => {
  temporaryFiles();
  const clock = new VirtualClock();
  const offer = await listen("unix", clock);
  const silent = await knock(offer.place);
  expect(await waitFor(() => clock.pending === 1)).toBe(true);
  clock.advance(999);
  expect(silent.closed).toBe(false);
  clock.advance(1);
  await silent.gone;
  const chatty = await knock(offer.place);
  chatty.write(new Uint8Array(5_000).fill(0xff));
  // Not a hello at all: refused at once.
  await chatty.gone;
  expect(clock.pending).toBe(0);
});

test("listenForCompanion() lets nobody in once it is withdrawn", async () => {
  temporaryFiles();
  const offer = await listen("unix");
  const early = await knock(offer.place);
  early.write(hello(TOKEN));
  offer.withdraw();
  await early.gone;
  let opened = false;
  void offer.channel.then(() => (opened = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(opened).toBe(false);
});
