import type { SluiceError } from "../../errors.ts";
import { checkDelay } from "../../rpc/check-delay.ts";
import { RemoteError } from "../../rpc/rpc-error.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { ExactInputHandle, InvokeParams } from "../contract/invoke.ts";
import { Method } from "../contract/method.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { State } from "../machine.ts";
import { SUMMARY_PROTOCOL } from "../summary.ts";
import { CancelFlow } from "./cancel-flow.ts";
import { HostedRun, type RunHost, type StopMode } from "./hosted-run.ts";
import { IncomingFrames, type RunBook } from "./incoming-frames.ts";
import type { Link } from "./link.ts";
import type { DriverOptions } from "./options.ts";
import { aborted, timedOut } from "./reasons.ts";
import type { InvokeOptions, Run } from "./run.ts";
import type { Entry } from "./run-entry.ts";
import { RunTimers } from "./run-timers.ts";
import { Tombstones } from "./tombstones.ts";

/** Input for a driver that gets none. */
const NO_INPUT: ExactInputHandle = { kind: "pipe", value: "/dev/null" };

/**
 * The invocations of one session: who waits for their turn, who is under way, and what belongs to whom.
 * One at a time.
 */
export class Invocations implements RunHost {
  readonly #link: Link;
  readonly #options: DriverOptions;
  readonly #capabilities: () => Capabilities | undefined;
  readonly #cancels: CancelFlow;
  readonly #tombstones: Tombstones;
  readonly #frames: IncomingFrames;
  readonly #entries: Map<HostedRun, Entry> = new Map();
  readonly #queue: HostedRun[] = [];
  #active: HostedRun | undefined;
  #sending: HostedRun | undefined;
  #paused = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(link: Link, options: DriverOptions, capabilities: () => Capabilities | undefined) {
    this.#link = link;
    this.#options = options;
    this.#capabilities = capabilities;
    this.#tombstones = new Tombstones(link.limits.tombstones);
    this.#cancels = new CancelFlow(link, (entry, cause) => {
      this.#tombstones.add(entry.run.invocationId);
      this.#drop(entry, cause);
    });
    this.#frames = new IncomingFrames(link, this.#book());
  }

  /** Whether an invocation is under way. */
  get invoking(): boolean {
    return this.#active !== undefined;
  }

  /** Whether a full queue asks for a pause (host-v1 §4). */
  get congested(): boolean {
    return this.#active?.congested === true;
  }

  /** What is waited for that only reading can bring. */
  get waits(): readonly string[] {
    const waits: string[] = [];
    if (this.#queue.length > 0) waits.push("a queued invocation");
    for (const run of this.#entries.keys()) if (run.waits !== undefined) waits.push(run.waits);
    return waits;
  }

  /**
   * Starts an invocation, or queues it behind the one under way.
   *
   * @throws {RangeError} When a time limit is negative or not finite.
   */
  invoke(operation: string, options: InvokeOptions): Run {
    checkDelay("timeout", options.timeout ?? 0);
    checkDelay("idleTimeout", options.idleTimeout ?? 0);
    const { limits } = this.#link;
    const run = new HostedRun(operation, options, {
      host: this,
      bounds: {
        fullCount: limits.runQueueCount,
        fullBytes: limits.runQueueBytes,
        aheadCount: limits.aheadCount,
        aheadBytes: limits.aheadBytes,
      },
      summary:
        this.#options.verifySummary !== false &&
        this.#capabilities()?.protocols.includes(SUMMARY_PROTOCOL) === true,
    });
    const refused =
      this.#refusal(operation) ??
      (options.signal?.aborted ? aborted(options.signal.reason) : undefined);
    if (refused !== undefined) run.fail(refused);
    else this.#enqueue(run);
    return run;
  }

  changed(): void {
    this.#link.changed();
  }

  stop(run: HostedRun, cause: SluiceError, mode: StopMode): void {
    const entry = this.#entries.get(run);
    if (entry === undefined || run.phase === "ended") return;
    if (run.phase === "queued") return this.#drop(entry, cause);
    const capable = this.#capabilities()?.cancellation === true;
    if (run.cause !== undefined) {
      if (mode === "abort") this.#cancels.hasten(entry, { cause: run.cause, mode, capable });
      return;
    }
    run.stopConsumer(cause, mode);
    entry.timers.stop("idle");
    this.#cancels.start(entry, { cause, mode, capable });
    this.changed();
  }

  /** Takes a message as it passes the link, in wire order. */
  message(message: RpcMessage, direction: "in" | "out"): void {
    if (direction === "in") this.#frames.take(message);
    else if (message.method === Method.Invoke && this.#sending !== undefined)
      this.#sending.requestId = message.id!;
  }

  /** Reading was paused or goes on: idle time only counts while the host reads. */
  paused(paused: boolean): void {
    this.#paused = paused;
    const entry = this.#active && this.#entries.get(this.#active);
    if (entry === undefined) return;
    if (paused) entry.timers.stop("idle");
    else this.#restartIdle(entry);
  }

  /** Rejects what waits for its turn and cancels what is under way; resolves when nothing is left. */
  async close(): Promise<void> {
    const cause = this.#link.closeReason;
    for (const run of this.#queue.slice()) this.#drop(this.#entries.get(run)!, cause);
    if (this.#active === undefined) return;
    this.#idle = Promise.withResolvers();
    this.stop(this.#active, cause, "abort");
    await this.#idle.promise;
  }

  /** The session has ended: everything left rejects with the reason. */
  failAll(reason: SluiceError): void {
    for (const entry of this.#entries.values()) this.#drop(entry, reason);
  }

  #book(): RunBook {
    const active = (): Entry | undefined => this.#active && this.#entries.get(this.#active);
    return {
      get active() {
        return active();
      },
      entries: this.#entries,
      tombstones: this.#tombstones,
      settle: (entry, end) => this.#settle(entry, end),
      stop: (run, cause, mode) => this.stop(run, cause, mode),
      restartIdle: (entry) => this.#restartIdle(entry),
    };
  }

  #refusal(operation: string): SluiceError | undefined {
    if (this.#link.reason !== undefined) return this.#link.reason;
    if (this.#link.closing) return this.#link.closeReason;
    const state = this.#link.machine.state;
    if (state !== State.Prepared && state !== State.Invoking) {
      return new ProtocolError(
        ErrorClass.InvalidState,
        `driver.invoke is not allowed in state ${state}: call prepare() first`,
      );
    }
    const offered = this.#capabilities()?.operations ?? [];
    if (offered.length > 0 && !offered.includes(operation)) {
      return new ProtocolError(
        ErrorClass.CapabilityMismatch,
        `Driver does not offer the operation ${JSON.stringify(operation.slice(0, 100))}, only ${offered.slice(0, 20).join(", ")}`,
      );
    }
    if (this.#queue.length < this.#link.limits.invokeQueue) return undefined;
    return new ProtocolError(
      ErrorClass.BudgetExceeded,
      `${this.#queue.length} invocations wait for their turn already`,
      {
        code: "invoke_queue_full",
      },
    );
  }

  #enqueue(run: HostedRun): void {
    const { signal, timeout } = run.options;
    const onAbort = (): void => this.stop(run, aborted(signal!.reason), "abort");
    signal?.addEventListener("abort", onAbort, { once: true });
    const entry: Entry = {
      run,
      timers: new RunTimers(this.#link.clock),
      answer: new AbortController(),
      unlisten: () => signal?.removeEventListener("abort", onAbort),
    };
    this.#entries.set(run, entry);
    if (timeout !== undefined && timeout > 0) {
      entry.timers.start("total", timeout, () =>
        this.stop(run, timedOut("invocation_timeout", timeout), "abort"),
      );
    }
    this.#queue.push(run);
    this.#next();
  }

  #next(): void {
    while (this.#active === undefined && this.#link.machine.state === State.Prepared) {
      const run = this.#queue.shift();
      if (run === undefined) break;
      this.#start(this.#entries.get(run)!);
    }
    this.changed();
  }

  #start(entry: Entry): void {
    const { run } = entry;
    const params: InvokeParams = {
      invocation_id: run.invocationId,
      attempt_id: run.attemptId,
      operation: run.operation,
      ephemeral_exact_input_handle: run.options.inputHandle ?? NO_INPUT,
    };
    try {
      this.#link.machine.beginInvocation(params);
    } catch (error) {
      return this.#drop(entry, error as SluiceError);
    }
    run.phase = "active";
    this.#active = run;
    this.#sending = run;
    const answer = this.#link.peer.request(Method.Invoke, params, {
      timeout: 0,
      signal: entry.answer.signal,
    });
    this.#sending = undefined;
    answer.catch((error: SluiceError) => this.#sendFailed(entry, error));
    this.#restartIdle(entry);
  }

  /** The request could not be written; an answer of the driver was dealt with when it came. */
  #sendFailed(entry: Entry, error: SluiceError): void {
    const { run } = entry;
    if (error instanceof RemoteError || run.phase !== "active" || run.requestId !== undefined)
      return;
    this.#link.machine.rejectInvocation(run.invocationId);
    this.#settle(entry, () => run.fail(error));
  }

  /** Ends the invocation under way and lets the next one start. */
  #settle(entry: Entry, end: () => void): void {
    this.#tombstones.add(entry.run.invocationId);
    this.#forget(entry);
    end();
    this.#next();
  }

  #drop(entry: Entry, cause: SluiceError): void {
    this.#forget(entry);
    entry.run.fail(cause);
    this.changed();
  }

  #forget(entry: Entry): void {
    const { run } = entry;
    entry.timers.stopAll();
    entry.unlisten();
    this.#entries.delete(run);
    const place = this.#queue.indexOf(run);
    if (place >= 0) this.#queue.splice(place, 1);
    if (this.#active !== run) return;
    this.#active = undefined;
    this.#idle?.resolve();
  }

  #restartIdle({ run, timers }: Entry): void {
    const { idleTimeout } = run.options;
    if (idleTimeout === undefined || idleTimeout === 0 || this.#paused || run.cause !== undefined)
      return;
    timers.start("idle", idleTimeout, () =>
      this.stop(run, timedOut("idle_timeout", idleTimeout), "abort"),
    );
  }
}
