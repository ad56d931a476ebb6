/**
 * For tests of drivers and hosts: both ends of a session in one process, and time that a test moves.
 *
 * @module
 */
export { duplexPair, type DuplexPairOptions } from "../streams/duplex-pair.ts";
export { loopback } from "./loopback.ts";
export type { Loopback, LoopbackOptions, LoopbackServeOptions } from "./loopback.ts";
export { VirtualClock } from "./virtual-clock.ts";
