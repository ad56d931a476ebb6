/* oxlint-disable no-console -- a bench prints */
/**
 * What the companion channel delivers of what its descriptor carries: bytes a second through
 * CompanionHost, as a share of reading the same socket raw, from a child process on descriptor 3.
 * The two sides of each ratio take turns; the median of the rounds counts.
 *
 * Run: `node --conditions=sluice:source bench/companion.bench.ts [rounds]`.
 */
import { cpus, loadavg } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { spawn } from "../adapters/node/mod.ts";
import { CompanionHost, type CompanionOptions } from "../lib/driver/companion/mod.ts";
import type { ByteDuplex } from "../lib/streams/mod.ts";
import { nodeSha256 } from "../adapters/node/sha256.ts";
import { type Writing, writeCompanion } from "./support/companion-writer.ts";

const ROUNDS = Number(process.argv[2] ?? 7);
const TOTAL = 384 * 1024 * 1024;
const SELF = fileURLToPath(import.meta.url);
const RUN = {
  invocation_id: "0190a3c4-7b2e-7c11-8f00-000000000001",
  attempt_id: "0190a3c4-7b2e-7c11-9f00-000000000001",
};

type Reader = (channel: ByteDuplex) => Promise<number>;

/** Seconds from the first byte to the last. */
async function seconds(writing: Omit<Writing, "total">, read: Reader): Promise<number> {
  const argument = JSON.stringify({ ...writing, total: TOTAL });
  const child = await spawn(
    [process.execPath, "--conditions=sluice:source", SELF, "--write", argument],
    { channel: true },
  );
  const taken = await read(child.channel!);
  await child.writable.close().catch(() => {});
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`The writer ended with ${code}`);
  child.release();
  return taken;
}

async function drain(readable: ReadableStream<Uint8Array>): Promise<number> {
  let start = 0;
  let bytes = 0;
  for await (const chunk of readable) {
    if (bytes === 0) start = performance.now();
    bytes += chunk.length;
  }
  if (bytes < TOTAL) throw new Error(`${bytes} bytes came`);
  return (performance.now() - start) / 1000;
}

const raw: Reader = async (channel) => {
  const taken = await drain(channel.readable);
  // The writer may be gone by now.
  await channel.writable.close().catch(() => {});
  return taken;
};

function through(options: CompanionOptions): Reader {
  return async (channel) => {
    const host = new CompanionHost(channel, options);
    host.startInvocation(RUN);
    await host.ready;
    const taken = await drain(host.expect({ ...RUN, stream_id: "bench" }).data);
    await host.ended;
    await host.halfClose().catch(() => {});
    return taken;
  };
}

interface Scenario {
  readonly name: string;
  readonly mode: "serial" | "granted" | "credit";
  readonly size: number;
  readonly digest: boolean;
  /** Default 256 KiB. */
  readonly window?: number;
}

const FLOOR = { mode: "serial", size: 65_536, digest: false } as const;

const scenarios: readonly Scenario[] = [
  { name: "serial driver, 64 KiB frames", mode: "serial", size: 65_536, digest: false },
  { name: "serial driver, 64 KiB frames, sha256", mode: "serial", size: 65_536, digest: true },
  { name: "serial driver, 4 KiB frames", mode: "serial", size: 4096, digest: false },
  {
    name: "driver that is granted all, 64 KiB frames",
    mode: "granted",
    size: 65_536,
    digest: false,
    window: TOTAL,
  },
  { name: "kit's driver, 64 KiB frames", mode: "credit", size: 65_536, digest: false },
  {
    name: "kit's driver, 64 KiB frames, window 1 MiB",
    mode: "credit",
    size: 65_536,
    digest: false,
    window: 1 << 20,
  },
  {
    name: "kit's driver, 64 KiB frames, sha256 at both ends",
    mode: "credit",
    size: 65_536,
    digest: true,
  },
];

async function compare({ name, window, ...writing }: Scenario): Promise<void> {
  const ratios: number[] = [];
  const rates: number[] = [];
  const read = through({
    sha256: writing.digest ? nodeSha256 : false,
    companionWindow: window,
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    // A raw reader gives no credit, so there the floor is another writer.
    const floor = await seconds(writing.mode === "serial" ? writing : FLOOR, raw);
    ratios.push(floor / (await seconds(writing, read)));
    rates.push(TOTAL / floor / 1e6);
  }
  const percent = (median(ratios) * 100).toFixed(0).padStart(4);
  console.log(`${name.padEnd(50)} ${percent} % of raw (${median(rates).toFixed(0)} MB/s)`);
}

if (process.argv[2] === "--write") {
  await writeCompanion(JSON.parse(process.argv[3]!) as Writing);
} else {
  for (const scenario of scenarios) await compare(scenario);
  const { node, v8 } = process.versions;
  const load = loadavg()[0]!.toFixed(1);
  console.log(`node ${node}, v8 ${v8}, ${cpus().length} cores, load ${load}, rounds ${ROUNDS}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
