/**
 * Running children: the port that adapters implement, the environment they get, the ladder that ends
 * them, and what is left of them for a report.
 *
 * @module
 */
export type { ChildHandle, ExitStatus, KillSignal } from "./child-handle.ts";
export { boundedAfterExit } from "./drain-after-exit.ts";
export type { AfterExitOptions, PipeCut } from "./drain-after-exit.ts";
export { DriverExited } from "./driver-exited.ts";
export type { DriverExitedContext, DriverExitedData } from "./driver-exited.ts";
export { mergeEnvironment } from "./environment.ts";
export type { EnvironmentParts, EnvironmentPlatform } from "./environment.ts";
export { endChild } from "./ladder.ts";
export type { LadderOptions, LadderResult, Rung } from "./ladder.ts";
export { StderrTail } from "./stderr-tail.ts";
export type { StderrTailOptions, TailTextOptions } from "./stderr-tail.ts";
