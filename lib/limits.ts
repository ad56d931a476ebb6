/** 1 KiB and 1 MiB in bytes. */
const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Every ceiling of the kit with its default. Sizes are bytes, times milliseconds, the rest counts.
 *
 * Options of the same name override a value; {@link resolveLimits} checks it once, at construction.
 * Source: host-v1 §9 (hosting rules) and driver protocol v1 §2, §10, §11.
 */
export const DEFAULT_LIMITS = {
  /** Longest control frame, without its line ending. */
  controlFrameBytes: MIB,
  /** Longest payload of a companion data frame. */
  dataFrameBytes: 256 * KIB,
  /** Longest header or control block of the companion channel. */
  companionHeaderBytes: 4 * KIB,
  /** What a stream of the companion channel may have outstanding: credit given and bytes not taken. */
  companionWindow: 256 * KIB,
  /** What a stream of a driver that obeys no credit may hold before the channel is not read. */
  serialStreamBytes: 256 * KIB,
  /** Longest id of a companion stream, as UTF-8. */
  streamIdBytes: 256,
  /** Longest reason of a companion stream's abort, as UTF-8. */
  reasonBytes: 512,
  /** Ended companion streams, and ends of streams not yet announced, that are remembered. */
  rememberedEnds: 1024,
  /** Bytes that a session holds of companion streams not yet announced. */
  earlyBytes: MIB,
  /** Bytes that a session drops of companion streams whose invocation is over. */
  lateBytes: MIB,
  /** Deepest nesting of a JSON text; the top value has depth 0. */
  jsonDepth: 256,
  /** From start to a successful hello. */
  startTimeout: 10_000,
  /** From sending a request other than `driver.invoke` to its response. */
  requestTimeout: 30_000,
  /** What `driver.cancel` gives a driver until `driver.completed`. */
  cancelDeadline: 5_000,
  /** After `driver.completed`: how long the companion streams of a run may take to end. */
  dataTimeout: 10_000,
  /** How long a full, unread stream or queue may hold up somebody who waits for something else. */
  stallTimeout: 30_000,
  /** How long a run that nobody reads any more may take to end. */
  drainTimeout: 30_000,
  /** How long after `driver.completed` the response to `driver.invoke` may come. */
  responseGrace: 1_000,
  /** At the driver: how long a handler may still run after its host has gone. */
  handlerGrace: 1_000,
  /** First rung of the ladder: answer to `driver.shutdown`. */
  shutdownTimeout: 2_000,
  /** Second rung: exit after stdin was closed. */
  stdinTimeout: 2_000,
  /** Third rung: exit after SIGTERM to the group; SIGKILL follows. */
  terminateTimeout: 3_000,
  /** After the exit: how long a pipe may stay silent before it is cut. */
  exitGrace: 500,
  /** After the exit: how many bytes a pipe may still deliver. */
  exitBytes: 8 * MIB,
  /** Observations a run holds before reading pauses. */
  runQueueCount: 64,
  /** Bytes of observations a run holds before reading pauses. */
  runQueueBytes: 256 * KIB,
  /** Observations a run may hold while somebody in the session waits. */
  aheadCount: 1024,
  /** Bytes of observations a run may hold while somebody in the session waits. */
  aheadBytes: MIB,
  /** Bytes of standard error kept for reports. */
  stderrTailBytes: 64 * KIB,
  /** Bytes of lines that are not protocol kept or counted before the session ends. */
  noiseBytes: 64 * KIB,
  /** Invocations that may wait for their turn. */
  invokeQueue: 64,
  /** Ended or refused ids remembered, so that late frames of them are dropped quietly. */
  tombstones: 1024,
  /** Invocation ids a session can use before a new one must be started. */
  usedIds: 2 ** 20,
  /** Requests under way in each direction. */
  inFlight: 64,
  /** Bytes waiting to be written to a peer that does not read. */
  writeQueueBytes: 4 * MIB,
} as const;

/** The names of {@link DEFAULT_LIMITS} with numbers as values. */
export type Limits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** Limits that the protocols fix; no option changes them. */
const FIXED = [
  "controlFrameBytes",
  "jsonDepth",
  "companionHeaderBytes",
  "streamIdBytes",
  "reasonBytes",
] as const satisfies readonly (keyof Limits)[];

/** Limits that the wire bounds from above. */
const MAXIMA: { readonly [K in keyof Limits]?: number } = {
  dataFrameBytes: DEFAULT_LIMITS.dataFrameBytes,
  companionWindow: 2 ** 31 - 1,
};

/** Limits that a caller sets; what is left out keeps its default. */
export type LimitOptions = {
  readonly [K in Exclude<keyof Limits, (typeof FIXED)[number]>]?: number | undefined;
};

/**
 * Merges a caller's limits over the defaults.
 *
 * @throws {RangeError} When a limit is not a whole number from 1 to 2^53−1, or to what the wire can carry.
 * @throws {TypeError} When one is given that the protocol fixes.
 */
export function resolveLimits(options: LimitOptions = {}): Limits {
  const limits: Record<string, number> = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]) {
    const value = (options as Partial<Limits>)[name];
    if (value === undefined) continue;
    if ((FIXED as readonly string[]).includes(name))
      throw new TypeError(`${name} is fixed by the protocol and no option`);
    limits[name] = checkLimit(name, value, MAXIMA[name]);
  }
  return limits as Limits;
}

/**
 * Checks one limit and returns it.
 *
 * @throws {RangeError} When it is not a whole number from 1 to `maximum`.
 */
export function checkLimit(
  name: string,
  value: number,
  maximum: number = Number.MAX_SAFE_INTEGER,
): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > maximum) {
    throw new RangeError(
      `${name} must be a whole number from 1 to ${maximum}, got ${String(value)}`,
    );
  }
  return value;
}
