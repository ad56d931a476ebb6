import type { Clock } from "../../clock.ts";
import { systemClock } from "../../clock.ts";
import { SluiceError } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import { type Limits, resolveLimits } from "../../limits.ts";
import { type RpcMessage } from "../../rpc/message.ts";
import { Peer } from "../../rpc/peer.ts";
import { RemoteError } from "../../rpc/rpc-error.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { type CompanionFault, isCutOff } from "../companion/mod.ts";
import { driverCodec } from "../codec/driver-codec.ts";
import { Method } from "../contract/method.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { State } from "../machine.ts";
import { tell } from "../tell.ts";
import { CUT_FRAME } from "./cut-frames.ts";
import type { DriverProcess } from "./driver-process.ts";
import { endReason, within } from "./end-reason.ts";
import { Lifecycle } from "../lifecycle.ts";
import { Noise } from "./noise.ts";
import type { DriverOptions } from "./options.ts";
import { excerptOf, ProtocolFault, refusal, sessionClosed } from "./reasons.ts";
import { type SessionStats, Traffic } from "./traffic.ts";

/** What the link tells and asks the rest of the session. */
export interface LinkEvents {
  /** Every message as it passes, in wire order; throwing on an incoming one is a fault of the driver. */
  message(message: RpcMessage, direction: "in" | "out"): void;
  /** Whether some queue asks for a pause of reading. */
  congested(): boolean;
  /** What is waited for that only reading can bring, apart from the link's own calls. */
  waits(): readonly string[];
  /** Whether reading is paused now. */
  paused(paused: boolean): void;
  /** Something changed in the session, or in who waits. */
  changed(): void;
  /** Whether an invocation is under way, for the reason of an end. */
  isInvoking(): boolean;
  /** The session has ended; called once. */
  ended(reason: SluiceError): void;
}

/** What a peer calls a message that it cannot place; every other fault of a message is a ProtocolError. */
const MISPLACED = new Set(["unknown_response", "invalid_message", "duplicate_request_id"]);

/**
 * The control plane of one session: the peer, the states, who waits for what, and the one reason
 * for which it ended.
 */
export class Link {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly process: DriverProcess | undefined;
  readonly peer: Peer;
  /** Resolves when the session has ended, with the reason; its process may still live then. */
  readonly ended: Promise<SluiceError>;
  readonly #events: LinkEvents;
  readonly #options: DriverOptions;
  readonly #traffic = new Traffic();
  readonly #noise: Noise;
  readonly #end = Promise.withResolvers<SluiceError>();
  #state: State | undefined;
  #calls: Method[] = [];
  #closing = false;
  #exited = false;
  #skippedIn: State | undefined;
  #reason: SluiceError | undefined;
  #resume: PromiseWithResolvers<void> | undefined;

  constructor(
    control: ByteDuplex,
    setup: { options: DriverOptions; process: DriverProcess | undefined; events: LinkEvents },
  ) {
    const { options, process, events } = setup;
    this.#options = options;
    this.#events = events;
    this.process = process;
    this.ended = this.#end.promise;
    this.limits = resolveLimits(options);
    this.clock = options.clock ?? systemClock;
    this.lifecycle = new Lifecycle(this.limits.usedIds);
    this.#noise = new Noise(options, this.limits.noiseBytes);
    this.peer = new Peer(control, {
      codec: this.#traffic.counted(driverCodec),
      clock: this.clock,
      requestTimeout: this.limits.requestTimeout,
      inFlight: this.limits.inFlight,
      tombstones: this.limits.tombstones,
      writeQueueBytes: this.limits.writeQueueBytes,
      onFault: "report",
      fault: (fault) => this.#onFault(fault),
      observe: (message, direction) => this.#observe(message, direction),
      onNotification: () => {},
      onRequest: (message) =>
        this.#onFault(
          new ProtocolError(
            ErrorClass.InvalidRequest,
            `${message.method} is not a driver's to ask`,
          ),
        ),
      gate: () => this.#gate(),
      endReason: (reason) => this.#endReason(reason, "read"),
    });
    void this.peer.closed.then((reason) => this.fail(reason ?? this.closeReason));
    void process?.exited.then(() => {
      this.#exited = true;
      this.changed();
    });
  }

  /** What passed so far. */
  get stats(): SessionStats {
    return { ...this.#traffic.stats, noiseLines: this.#noise.lines };
  }

  /** Why the session ended; undefined while it has not. */
  get reason(): SluiceError | undefined {
    return this.#reason;
  }

  /** Whether the host has begun to end the session. */
  get closing(): boolean {
    return this.#closing;
  }

  /** The reason of a session that its host closes; names a rung that was skipped. */
  get closeReason(): SluiceError {
    return sessionClosed(this.#skippedIn);
  }

  /**
   * What has the session read on although a queue is full; empty when nobody waits, and once the
   * process has exited: then its pipe is read to the end whoever waits, within `exitBytes`.
   */
  get waits(): readonly string[] {
    if (this.#exited) return [];
    const own = this.#calls.map((method) => `the answer to ${method}`);
    return [...own, ...(this.#closing ? ["close()"] : []), ...this.#events.waits()];
  }

  /** @throws {SluiceError} Why no more calls are taken, once the session ends or has ended. */
  checkOpen(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.#closing) throw this.closeReason;
  }

  /** From here on the end of the driver is what the host wants. */
  beginClose(): void {
    this.#closing = true;
    this.changed();
  }

  /** The state forbids `driver.shutdown`; the reason of the end will name it. */
  skipShutdown(): void {
    this.#skippedIn = this.lifecycle.state;
  }

  /** Something changed that may let reading go on. */
  changed(): void {
    if (this.#state !== this.lifecycle.state) {
      this.#state = this.lifecycle.state;
      tell(this.#options.onState, this.#state);
    }
    this.#events.changed();
    if (this.#resume === undefined || this.#mustPause()) return;
    this.#resume.resolve();
    this.#resume = undefined;
    this.#events.paused(false);
  }

  /**
   * Sends a request whose answer somebody waits for.
   *
   * @throws {ProtocolError} The driver's refusal, with its class.
   * @throws {SluiceError} `request_timeout`, or the reason why the session ended.
   */
  async call(
    method: Method,
    params: object,
    timeout: number = this.limits.requestTimeout,
  ): Promise<JsonValue> {
    if (this.#reason !== undefined) throw this.#reason;
    this.#calls.push(method);
    this.changed();
    try {
      return await this.peer.request(method, params, { timeout });
    } catch (error) {
      throw error instanceof RemoteError ? refusal(error, method) : error;
    } finally {
      this.#calls.splice(this.#calls.indexOf(method), 1);
      this.changed();
    }
  }

  /** Ends the session for a reason; only the first counts. The process is ended by the ladder. */
  fail(reason: SluiceError, startAt: "stdin" | "SIGTERM" | "SIGKILL" = "stdin"): void {
    if (this.#reason === undefined) {
      this.#reason = reason;
      this.#end.resolve(reason);
      this.#events.ended(reason);
      if (!this.#closing) tell(this.#options.onEnd, reason);
      this.peer.end(reason);
      this.changed();
    }
    void this.process?.end(startAt);
  }

  /**
   * The companion channel is broken. A channel that ends in the midst of a block is how a crash looks:
   * then the exit, which the control pipe tells, is the better reason.
   */
  async companionBroke(fault: CompanionFault): Promise<void> {
    const { process, clock } = this;
    if (process !== undefined && isCutOff(fault)) {
      const status = await within(process.exited, { clock, timeout: this.limits.exitGrace });
      if (status !== undefined) return;
    }
    if (!this.#closing) this.fail(fault);
  }

  #observe(message: RpcMessage, direction: "in" | "out"): void {
    this.#traffic.frame(direction);
    this.#events.message(message, direction);
    this.changed();
  }

  #onFault(fault: SluiceError): void {
    if (fault.code === CUT_FRAME) return;
    if (fault instanceof ProtocolError || MISPLACED.has(fault.code)) return this.#judge(fault);
    if (fault.code === "message_refused") return this.fail(fault);
    // What is left is a failure to write, whose code is the stream's own. A driver that is being closed
    // need not read any more.
    if (!this.#closing) void this.#endReason(fault, "write").then((reason) => this.fail(reason));
  }

  #judge(fault: SluiceError): void {
    const noise = this.#noise.judge(fault);
    if (noise === "taken") this.process?.tail.add(excerptOf(fault) ?? "");
    else this.fail(noise ?? new ProtocolFault(fault));
  }

  #mustPause(): boolean {
    if (this.#exited || this.#reason !== undefined) return false;
    return this.#events.congested() && this.waits.length === 0;
  }

  #gate(): Promise<void> | undefined {
    if (!this.#mustPause()) return undefined;
    this.#resume ??= Promise.withResolvers();
    this.#events.paused(true);
    return this.#resume.promise;
  }

  /** The control channel ended by itself: says how the driver ended, where that can be learnt. */
  async #endReason(reason: SluiceError, ended: "read" | "write"): Promise<SluiceError> {
    const { process, clock } = this;
    if (this.#closing) return this.closeReason;
    if (process === undefined) return reason;
    const { exitGrace } = this.limits;
    const inFlight = [...this.#inFlight()];
    const found = await endReason(reason, { process, clock, exitGrace, inFlight, ended });
    return this.#closing ? this.closeReason : found;
  }

  *#inFlight(): Generator<string> {
    yield* this.peer.inFlight;
    if (this.#events.isInvoking() && !this.peer.inFlight.includes(Method.Invoke))
      yield Method.Invoke;
  }
}
