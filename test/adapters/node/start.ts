import { beforeEach, onTestFinished } from "vitest";
import { nodeClock } from "../../../adapters/node/node-clock.ts";
import type { SpawnedChild } from "../../../adapters/node/node-child.ts";
import { spawn } from "../../../adapters/node/spawn.ts";
import type { SpawnOptions } from "../../../adapters/node/spawn.ts";
import { endChild } from "../../../lib/process/ladder.ts";
import type { LadderOptions, LadderResult } from "../../../lib/process/ladder.ts";

/** Skips the tests of a file, visibly, where there is no Linux under them. */
export function linuxOnly(): void {
  beforeEach(({ skip }) =>
    skip(process.platform !== "linux", "needs Linux: sh, signals to groups and /proc"),
  );
}

/** Starts a child that is gone, with its group, when the test ends. */
export async function start(
  command: readonly string[],
  options: SpawnOptions = {},
): Promise<SpawnedChild> {
  const child = await spawn(command, options);
  onTestFinished(async () => {
    await end(child, { startAt: "SIGKILL" });
    child.release();
  });
  return child;
}

/** The ladder on the real clock, in test time. */
export function end(
  child: SpawnedChild,
  options: Partial<LadderOptions> = {},
): Promise<LadderResult> {
  return endChild(child, {
    clock: nodeClock,
    limits: { stdinTimeout: 300, terminateTimeout: 300 },
    ...options,
  });
}

/** Reads a stream to its end as text. */
export function text(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream as BodyInit).text();
}

/** Reads the first line and leaves the rest. */
export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let line = "";
  while (!line.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    line += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return line.split("\n", 1)[0] ?? "";
}

export const encode = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(value);
