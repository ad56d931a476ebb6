import { type SluiceError, toSluiceError } from "../../errors.ts";
import { checkDelay } from "../../rpc/check-delay.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { State } from "../machine.ts";
import { SUMMARY_PROTOCOL } from "../summary.ts";
import { concurrencyOf, refusalOf } from "./admission.ts";
import { CancelFlow } from "./cancel-flow.ts";
import { entryOf } from "./entry-of.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import { HostedRun, type RunHost, type StopMode } from "./hosted-run.ts";
import { IdleClock } from "./idle-clock.ts";
import { IncomingFrames, type RunBook } from "./incoming-frames.ts";
import type { OfferInput } from "./input-offer.ts";
import type { Link } from "./link.ts";
import { queueBounds } from "./observation-queue.ts";
import type { DriverOptions } from "./options.ts";
import { aborted, timedOut } from "./reasons.ts";
import type { InvokeOptions, Run } from "./run.ts";
import { RunDrain } from "./run-drain.ts";
import type { Entry } from "./run-entry.ts";
import { RunInput } from "./run-input.ts";
import { RunStart } from "./run-start.ts";
import { StallWatch } from "./stall-watch.ts";
import { Tombstones } from "../../rpc/tombstones.ts";

/** What the invocations of a session stand on. */
export interface InvocationsSetup {
  readonly link: Link;
  readonly plane: CompanionPlane;
  readonly options: DriverOptions;
  readonly offerInput: OfferInput | undefined;
  readonly capabilities: () => Capabilities | undefined;
}

/** The invocations of one session: who waits for their turn, who is under way, and what belongs to whom. */
export class Invocations implements RunHost {
  readonly #link: Link;
  readonly #plane: CompanionPlane;
  readonly #options: DriverOptions;
  readonly #capabilities: () => Capabilities | undefined;
  readonly #cancels: CancelFlow;
  readonly #input: RunInput;
  readonly #drain: RunDrain;
  readonly #starts: RunStart;
  readonly #stalls: StallWatch;
  readonly #frames: IncomingFrames;
  readonly #idle: IdleClock;
  readonly #tombstones: Tombstones;
  readonly #entries: Set<Entry> = new Set();
  readonly #active: Map<string, Entry> = new Map();
  readonly #queue: Entry[] = [];
  #whenIdle: (() => void) | undefined;

  constructor({ link, plane, options, offerInput, capabilities }: InvocationsSetup) {
    this.#link = link;
    this.#plane = plane;
    this.#options = options;
    this.#capabilities = capabilities;
    this.#tombstones = new Tombstones(link.limits.tombstones);
    this.#input = new RunInput(plane, offerInput);
    this.#drain = new RunDrain(link, plane);
    this.#starts = new RunStart(link, plane, this.#input);
    this.#stalls = new StallWatch(link, plane, this.#entries);
    this.#idle = new IdleClock(
      () => this.#active.values(),
      ({ run }, idleTimeout) => this.stop(run, timedOut("idle_timeout", idleTimeout), "abort"),
    );
    this.#cancels = new CancelFlow(link, {
      keep: () => options.onCancelTimeout === "keep" && concurrencyOf(capabilities()) > 1,
      giveUp: (entry, cause) => this.#giveUp(entry, cause),
    });
    const parts = { plane, input: this.#input, drain: this.#drain };
    this.#frames = new IncomingFrames(link, this.#book(), parts);
  }

  /** Whether an invocation is under way. */
  get invoking(): boolean {
    return this.#active.size > 0;
  }

  /** Whether a full queue asks for a pause (host-v1 §4). */
  get congested(): boolean {
    for (const { run } of this.#active.values()) if (run.congested) return true;
    return false;
  }

  get heldEarly(): boolean {
    return this.#plane.host?.heldEarly === true;
  }

  /** What is waited for that only reading can bring. */
  get waits(): readonly string[] {
    const waits: string[] = [];
    if (this.#queue.length > 0) waits.push("a queued invocation");
    if (this.heldEarly) waits.push("the announcement of data streams");
    for (const { run } of this.#entries) if (run.waits !== undefined) waits.push(run.waits);
    return waits;
  }

  /**
   * Starts an invocation, or queues it behind those under way.
   *
   * @throws {RangeError} When a time limit or `hold` is negative or not finite.
   * @throws {TypeError} When both `input` and `inputHandle` are given.
   */
  invoke(operation: string, options: InvokeOptions): Run {
    checkDelay("timeout", options.timeout ?? 0);
    checkDelay("idleTimeout", options.idleTimeout ?? 0);
    checkDelay("hold", options.hold ?? 0);
    const capabilities = this.#capabilities();
    const summary =
      this.#options.verifySummary !== false && capabilities?.protocols.includes(SUMMARY_PROTOCOL);
    const bounds = queueBounds(this.#link.limits);
    const run = new HostedRun(operation, options, {
      host: this,
      bounds,
      summary: summary === true,
    });
    const refused =
      refusalOf(this.#link, { operation, capabilities, queued: this.#queue.length }) ??
      (options.signal?.aborted ? aborted(options.signal.reason) : undefined);
    if (refused !== undefined) run.fail(refused);
    else this.#enqueue(entryOf(run, this.#link.clock, (cause) => this.stop(run, cause, "abort")));
    return run;
  }

  changed(): void {
    this.#link.changed();
  }

  /** Something changed on either plane that may begin or end a stall, or let idle time count. */
  check(): void {
    this.#stalls.check();
    this.#idle.check();
  }

  /** Bytes moved on the companion channel, or its reading paused or goes on. */
  progress(): void {
    this.#drain.progress();
    this.#stalls.progress();
    this.changed();
  }

  stop(run: HostedRun, cause: SluiceError, mode: StopMode): void {
    const entry = [...this.#entries].find((known) => known.run === run);
    if (entry === undefined || run.phase === "ended") return;
    if (run.phase === "queued") return this.#giveUp(entry, cause);
    const capable = this.#capabilities()?.cancellation === true;
    if (run.cause !== undefined) {
      if (mode === "abort") this.#cancels.hasten(entry, { cause: run.cause, mode, capable });
      return;
    }
    const draining = run.phase === "draining";
    run.stopConsumer(cause, mode);
    entry.timers.stop("idle");
    this.#input.abort(entry, cause);
    if (!draining) this.#cancels.start(entry, { cause, mode, capable });
    this.changed();
  }

  /** Takes a message as it passes the link, in wire order. */
  message(message: RpcMessage, direction: "in" | "out"): void {
    if (direction === "in") {
      this.#stalls.progress();
      this.#frames.take(message);
    } else this.#starts.sent(message);
  }

  paused(paused: boolean): void {
    this.#idle.pause(paused);
  }

  /** Rejects what waits for its turn and cancels what is under way; resolves when nothing is left. */
  async close(): Promise<void> {
    const cause = this.#link.closeReason;
    for (const entry of this.#queue.slice()) this.#giveUp(entry, cause);
    for (const { run } of this.#entries) this.stop(run, cause, "abort");
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      this.#checkIdle();
    });
  }

  /**
   * The session has ended: everything left rejects with the reason, apart from data streams and what
   * waits for nothing but their end. They end with the channel.
   */
  failAll(reason: SluiceError): void {
    this.#stalls.stop();
    for (const entry of this.#entries) {
      if (entry.run.phase !== "draining") this.#giveUp(entry, reason);
      else {
        entry.timers.stop("response");
        entry.run.acceptanceFailed(reason);
      }
    }
  }

  #book(): RunBook {
    return {
      active: this.#active,
      entries: this.#entries,
      tombstones: this.#tombstones,
      settle: (entry) => this.#settle(entry),
      release: (entry) => this.#release(entry),
      stop: (run, cause, mode) => this.stop(run, cause, mode),
      restartIdle: (entry) => this.#idle.restart(entry),
    };
  }

  #enqueue(entry: Entry): void {
    const { run } = entry;
    this.#entries.add(entry);
    this.#queue.push(entry);
    try {
      void this.#input.arrange(entry)?.then((error) => {
        if (error !== undefined) this.#giveUp(entry, error);
        else if (run.phase === "queued") this.#next();
        else this.#input.abort(entry, this.#link.closeReason);
      });
    } catch (error) {
      const message = "The input cannot be delivered";
      this.#giveUp(entry, toSluiceError(error, "input_undeliverable", message));
      if (error instanceof TypeError) throw error;
    }
    this.#next();
  }

  /** Starts those at the head of the queue whose input is arranged, as far as there is room. */
  #next(): void {
    const room = concurrencyOf(this.#capabilities());
    while (this.#active.size < room && this.#ready && this.#queue[0]?.handle !== undefined) {
      this.#start(this.#queue.shift()!);
    }
    this.changed();
  }

  get #ready(): boolean {
    const { lifecycle, reason, closing } = this.#link;
    if (reason !== undefined || closing) return false;
    return lifecycle.state === State.Prepared || lifecycle.state === State.Invoking;
  }

  #start(entry: Entry): void {
    const { run } = entry;
    const refused = this.#starts.begin(entry);
    if (refused !== undefined) return this.#giveUp(entry, refused);
    run.phase = "active";
    this.#active.set(run.invocationId, entry);
    this.#starts.send(entry, (error) => {
      this.#starts.takeBack(entry);
      this.#giveUp(entry, error);
      this.#settle(entry);
    });
    this.#idle.restart(entry);
  }

  /** The driver has ended an invocation, or it never ran: its place is free. */
  #settle(entry: Entry): void {
    const { invocationId } = entry.run;
    this.#tombstones.add(invocationId);
    entry.timers.stop("idle");
    entry.timers.stop("cancel");
    this.#active.delete(invocationId);
    this.#link.lifecycle.end(invocationId);
    this.#checkIdle();
    this.#next();
  }

  /** Forgets a run once it has ended and its invocation was answered. */
  #release(entry: Entry): void {
    const { run, timers } = entry;
    if (run.phase !== "ended") return;
    timers.stop("total");
    entry.unlisten();
    if (run.unanswered) return;
    timers.stopAll();
    this.#entries.delete(entry);
  }

  /** Ends a run without a word of the driver; its place stays taken until the driver has ended it. */
  #giveUp(entry: Entry, cause: SluiceError): void {
    const place = this.#queue.indexOf(entry);
    if (place >= 0) this.#queue.splice(place, 1);
    this.#input.abort(entry, cause);
    entry.run.fail(cause);
    entry.timers.stopAll();
    this.#release(entry);
    this.#checkIdle();
    this.#next();
  }

  /** A close does not wait for invocations that were given up. */
  #checkIdle(): void {
    for (const { run } of this.#active.values()) if (run.phase !== "ended") return;
    this.#whenIdle?.();
  }
}
