import { systemClock } from "../clock.ts";
import type { Clock, Timer } from "../clock.ts";
import { checkLimit, DEFAULT_LIMITS } from "../limits.ts";
import type { JsonValue } from "../json/value.ts";
import { abortedError, timeoutError } from "./call-errors.ts";
import type { RpcId, RpcMessage } from "./message.ts";
import { RemoteError } from "./rpc-error.ts";
import { Tombstones } from "./tombstones.ts";

/** Options of a {@link PendingTable}. */
export interface PendingTableOptions {
  /** Where timeouts come from. Default: the system clock. */
  readonly clock?: Clock;
  /** How many ids of given-up calls are remembered, the oldest dropped first. Default 1024. */
  readonly tombstones?: number;
}

/** One call, as {@link PendingTable.add} takes it. */
export interface PendingCall {
  /** The method, for error messages. */
  readonly method: string;
  /** Milliseconds until the call rejects with `request_timeout`; 0 or absent for never. */
  readonly timeout?: number | undefined;
  /** Gives the call up when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What became of a response: it settled a call, belonged to a call that was given up (and was
 * dropped), or belongs to no call at all.
 */
export type Settlement = "settled" | "tombstone" | "unknown";

interface Entry {
  readonly method: string;
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (reason: unknown) => void;
  /** Removes the timer and the listener. */
  readonly release: () => void;
}

/** Most distinct methods that {@link PendingTable.outstanding} names. */
const MAX_NAMED = 8;
const MAX_METHOD = 64;

/**
 * The calls that wait for an answer, by id; ids match only with the same type (`"1"` is not `1`).
 *
 * An entry leaves by its answer, its timeout, its signal, {@link PendingTable.fail} or
 * {@link PendingTable.rejectAll}, and takes its timer and its listener with it. The id of a call that
 * was given up becomes a tombstone, so that a late answer is told from an unknown one.
 */
export class PendingTable {
  readonly #clock: Clock;
  readonly #entries = new Map<RpcId, Entry>();
  readonly #tombstones: Tombstones;
  #dropped = 0;

  /** @throws {RangeError} When `tombstones` is not a whole number of at least 1. */
  constructor(options: PendingTableOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#tombstones = new Tombstones(
      checkLimit("tombstones", options.tombstones ?? DEFAULT_LIMITS.tombstones),
    );
  }

  /** How many calls wait. */
  get size(): number {
    return this.#entries.size;
  }

  /** How many late answers were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether a call with this id waits, or was given up so lately that its answer may still come. */
  has(id: RpcId): boolean {
    return this.#entries.has(id) || this.#tombstones.has(id);
  }

  /**
   * Enters a call.
   *
   * @returns The promise of its result. It rejects with {@link RemoteError} (`remote_error`),
   *   `request_timeout`, `aborted` (the signal's reason is the cause), or what `fail` or `rejectAll` say.
   * @throws {RangeError} When the id is taken, see {@link PendingTable.has}.
   */
  add(id: RpcId, call: PendingCall): Promise<JsonValue> {
    if (this.has(id))
      throw new RangeError(`The id ${JSON.stringify(id)} is in use by another call`);
    const { method, timeout = 0, signal } = call;
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    if (signal?.aborted === true) {
      this.#tombstones.add(id);
      reject(abortedError(method, signal, id));
      return promise;
    }
    const timer = timeout > 0 ? this.#startTimer(id, method, timeout) : undefined;
    const unlisten = signal === undefined ? undefined : this.#listen(id, method, signal);
    const release = (): void => {
      timer?.cancel();
      unlisten?.();
    };
    this.#entries.set(id, { method, resolve, reject, release });
    return promise;
  }

  /** Settles the call that a response answers. */
  settle(response: RpcMessage): Settlement {
    const id = response.id;
    if (id === undefined || id === null) return "unknown";
    const entry = this.#take(id);
    if (entry === undefined) {
      if (!this.#tombstones.delete(id)) return "unknown";
      this.#dropped += 1;
      return "tombstone";
    }
    if (response.error === undefined) entry.resolve(response.result ?? null);
    else entry.reject(new RemoteError(response.error, { method: entry.method }));
    return "settled";
  }

  /**
   * Gives one call up: it rejects, and a late answer will be dropped.
   *
   * @returns False when no such call waits.
   */
  fail(id: RpcId, reason: unknown): boolean {
    const entry = this.#take(id);
    if (entry === undefined) return false;
    this.#tombstones.add(id);
    entry.reject(reason);
    return true;
  }

  /** Gives every call up, in the order in which they were entered. */
  rejectAll(reason: unknown): void {
    for (const id of this.#entries.keys()) this.fail(id, reason);
  }

  /** Names the waiting calls' methods for an error message, such as `"a" (2), "b"`; empty when none. */
  outstanding(): string {
    const counts = new Map<string, number>();
    for (const { method } of this.#entries.values())
      counts.set(method, (counts.get(method) ?? 0) + 1);
    const named = [...counts].slice(0, MAX_NAMED).map(([method, count]) => {
      return `"${method.slice(0, MAX_METHOD)}"${count > 1 ? ` (${count})` : ""}`;
    });
    const rest = counts.size - named.length;
    return named.join(", ") + (rest > 0 ? ` and ${rest} more methods` : "");
  }

  /** The method of each waiting call, in the order of the calls. */
  get methods(): string[] {
    return [...this.#entries.values()].map(({ method }) => method);
  }

  #take(id: RpcId): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    entry.release();
    return entry;
  }

  #listen(id: RpcId, method: string, signal: AbortSignal): () => void {
    const onAbort = (): void => void this.fail(id, abortedError(method, signal, id));
    signal.addEventListener("abort", onAbort);
    return () => signal.removeEventListener("abort", onAbort);
  }

  #startTimer(id: RpcId, method: string, timeout: number): Timer {
    const expire = (): void => void this.fail(id, timeoutError(id, method, timeout));
    return this.#clock.setTimer(expire, timeout);
  }
}
