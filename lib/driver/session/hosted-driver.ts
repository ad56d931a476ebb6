import { type SluiceError, toSluiceError } from "../../errors.ts";
import type { LadderResult } from "../../process/ladder.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { type Capabilities, CapabilitiesResult } from "../contract/capabilities.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { DriverIdentity } from "../contract/identity.ts";
import { ResetResult } from "../contract/lifecycle.ts";
import { Method } from "../contract/method.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { State } from "../machine.ts";
import type { Driver, DriverEnd } from "./driver.ts";
import type { DriverProcess } from "./driver-process.ts";
import type { CompanionOffer } from "./companion-offer.ts";
import { CompanionPlane, type CompanionPolicy } from "./companion-plane.ts";
import { type Hello, prepare, type PrepareOptions, readResult, sayHello } from "./handshake.ts";
import { Invocations } from "./invocations.ts";
import type { OfferInput } from "./input-offer.ts";
import { Link } from "./link.ts";
import type { DriverOptions } from "./options.ts";
import type { InvokeOptions, Run } from "./run.ts";
import type { SessionStats } from "./traffic.ts";

/** How long standard error may take to settle after the end, before it is reported. */
const STDERR_SETTLE = 100;

/** What an adapter gives to a session beside its control channel. */
export interface SessionSetup {
  readonly process?: DriverProcess | undefined;
  readonly policy: CompanionPolicy;
  readonly offer?: CompanionOffer | undefined;
  readonly offerInput?: OfferInput | undefined;
}

/** The host's end of a session. */
export class HostedDriver implements Driver {
  readonly ended: Promise<DriverEnd>;
  readonly #link: Link;
  readonly #plane: CompanionPlane;
  readonly #invocations: Invocations;
  readonly #end = Promise.withResolvers<DriverEnd>();
  readonly #rungs: "shutdown"[] = [];
  #hello: Hello | undefined;
  #capabilities: Capabilities | undefined;
  #permissions: readonly string[] = [];
  #preparing = false;
  #closing: Promise<DriverEnd> | undefined;

  private constructor(control: ByteDuplex, options: DriverOptions, setup: SessionSetup) {
    const { process, policy, offer, offerInput } = setup;
    this.ended = this.#end.promise;
    const events = {
      message: (...passed: Parameters<Invocations["message"]>) =>
        this.#invocations.message(...passed),
      congested: () => this.#invocations.congested,
      waits: () => this.#invocations.waits,
      paused: (paused: boolean) => this.#invocations.paused(paused),
      changed: () => this.#invocations.check(),
      isInvoking: () => this.#invocations.invoking,
      ended: (reason: SluiceError) => void this.#finish(reason),
    };
    this.#link = new Link(control, { options, process, events });
    this.#plane = new CompanionPlane({
      offer,
      policy,
      clock: this.#link.clock,
      limits: options,
      sha256: options.sha256,
      onFault: (fault, scope) => {
        const keep = scope === "channel" && options.onCompanionFault === "detach";
        if (!keep) void this.#link.companionBroke(fault);
      },
      onProgress: () => this.#invocations.progress(),
    });
    this.#invocations = new Invocations({
      link: this.#link,
      plane: this.#plane,
      options,
      offerInput,
      capabilities: () => this.#capabilities,
    });
  }

  /** Says hello; a driver that does not answer well is ended before this rejects. */
  static async start(
    control: ByteDuplex,
    options: DriverOptions,
    setup: SessionSetup,
  ): Promise<HostedDriver> {
    const driver = new HostedDriver(control, options, setup);
    try {
      const { clock, limits } = driver.#link;
      const started = clock.now();
      driver.#hello = await sayHello(driver.#link, options);
      const left = Math.max(1, limits.startTimeout - (clock.now() - started));
      await Promise.race([
        driver.#plane.agree(driver.#hello.result.capabilities, left),
        driver.#link.ended.then((reason) => Promise.reject(reason)),
      ]);
      driver.#capabilities = driver.#hello.result.capabilities;
      driver.#link.changed();
      return driver;
    } catch (error) {
      throw await driver.#abandon(error);
    }
  }

  get identity(): DriverIdentity {
    return this.#hello!.result.identity;
  }

  get capabilities(): Capabilities {
    return this.#capabilities!;
  }

  get version(): string {
    return this.#hello!.version;
  }

  get requestedPermissions(): readonly string[] {
    return this.#hello!.result.requested_permissions;
  }

  get permissions(): readonly string[] {
    return this.#permissions;
  }

  get state(): State {
    return this.#link.lifecycle.state;
  }

  get stats(): SessionStats {
    return this.#link.stats;
  }

  get pid(): number | undefined {
    return this.#link.process?.pid;
  }

  async prepare(options: PrepareOptions): Promise<readonly string[]> {
    this.#link.checkOpen();
    if (this.state !== State.Hello || this.#preparing) {
      throw new ProtocolError(
        ErrorClass.InvalidState,
        `driver.prepare is not allowed in state ${this.state}, only once after the start`,
      );
    }
    this.#preparing = true;
    const before = this.stats.framesOut;
    const prepared = prepare(this.#link, options, this.requestedPermissions);
    const sent = this.stats.framesOut > before;
    try {
      this.#permissions = await prepared;
      this.#link.changed();
      return this.#permissions;
    } catch (error) {
      if (sent) throw await this.#abandon(error);
      this.#preparing = false;
      throw error;
    }
  }

  invoke(operation: string, options: InvokeOptions = {}): Run {
    return this.#invocations.invoke(operation, options);
  }

  async refreshCapabilities(): Promise<Capabilities> {
    this.#link.checkOpen();
    this.#link.lifecycle.checkCapabilities();
    const answer = await this.#link.call(Method.Capabilities, {});
    const result = await this.#trusted(() =>
      readResult(CapabilitiesResult, answer, Method.Capabilities),
    );
    this.#capabilities = result.capabilities;
    return result.capabilities;
  }

  async reset(): Promise<void> {
    this.#link.checkOpen();
    this.#link.lifecycle.reset();
    const answer = await this.#link.call(Method.Reset, {});
    await this.#trusted(() => readResult(ResetResult, answer, Method.Reset));
  }

  close(): Promise<DriverEnd> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<DriverEnd> {
    this.#link.beginClose();
    await Promise.race([this.#invocations.close(), this.#link.ended]);
    if (this.#link.reason === undefined) {
      if (this.state === State.Prepared) await this.#shutdown();
      else this.#link.skipShutdown();
    }
    if (this.#link.reason === undefined) await this.#leave();
    return await this.ended;
  }

  /** The first rung: the driver's own way to end; what it answers does not matter. */
  async #shutdown(): Promise<void> {
    this.#rungs.push("shutdown");
    this.#link.lifecycle.shutdown();
    await this.#link.call(Method.Shutdown, {}, this.#link.limits.shutdownTimeout).catch(() => {});
  }

  /** Half-closes the control channel and reads on until the driver closes its half, or its process is ended. */
  async #leave(): Promise<void> {
    void this.#link.peer.closeWrite().catch(() => {});
    this.#plane.halfClose();
    if (this.#link.process !== undefined) await this.#link.process.end("stdin");
    const timer = this.#link.clock.setTimer(
      () => this.#link.fail(this.#link.closeReason),
      this.#link.process === undefined
        ? this.#link.limits.stdinTimeout
        : this.#link.limits.exitGrace * 4,
      { keepAlive: true },
    );
    await this.#link.ended;
    timer.cancel();
  }

  /** Ends the driver because it failed; resolves with the error once its process has ended. */
  async #abandon(thrown: unknown): Promise<SluiceError> {
    const error = toSluiceError(thrown, "start_failed", "The driver could not be started");
    this.#link.fail(error);
    await this.ended;
    return error;
  }

  /** A result that does not fit its contract ends the session. */
  async #trusted<T>(read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      throw await this.#abandon(error);
    }
  }

  async #finish(reason: SluiceError): Promise<void> {
    this.#invocations.failAll(reason);
    const { process } = this.#link;
    const result: LadderResult | undefined = await process?.end("stdin");
    const { exitGrace: grace, exitBytes: bytes } = this.#link.limits;
    await this.#plane.readRest({ grace, bytes });
    this.#plane.close();
    await process?.tail.settled(this.#link.clock, STDERR_SETTLE);
    process?.release();
    this.#end.resolve({
      reason,
      exit: result?.status,
      rungs: [...this.#rungs, ...(result?.rungs ?? [])],
      stderr: process?.tail.text() ?? "",
    });
  }
}
