/**
 * Sluice on Node: start and host drivers, serve one, and the byte channels beneath.
 *
 * @module
 */
export { openInput } from "./files.ts";
export type { InputHandle } from "./files.ts";
export { nodeClock as clock } from "./node-clock.ts";
export { nodeSha256 as sha256 } from "./sha256.ts";
export { serveDriver } from "./serve-driver.ts";
export type { ServeDriverOptions } from "./serve-driver.ts";
export type { SpawnedChild } from "./node-child.ts";
export { spawn } from "./spawn.ts";
export type { SpawnOptions } from "./spawn.ts";
export { spawnDriver } from "./spawn-driver.ts";
export type { SpawnDriverOptions } from "./spawn-driver.ts";
export { stdio } from "./stdio.ts";
export type { StdioDuplex, StdioOptions } from "./stdio.ts";
