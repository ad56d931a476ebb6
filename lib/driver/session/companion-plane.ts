import type { Clock } from "../../clock.ts";
import { SluiceError } from "../../errors.ts";
import type { Sha256 } from "../../json/digest.ts";
import type { LimitOptions } from "../../limits.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import {
  COMPANION_PROTOCOL,
  CompanionFault,
  CompanionFaultCode,
  type CompanionFaultScope,
  CompanionHost,
  type IncomingStream,
  type InvocationIds,
  type StreamIds,
  unavailableStream,
} from "../companion/mod.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { CompanionOffer } from "./companion-offer.ts";

/** What a host wants of a companion channel. */
export type CompanionPolicy = "auto" | "required" | "off";

/** What a {@link CompanionPlane} stands on. */
export interface PlaneSetup {
  readonly offer: CompanionOffer | undefined;
  readonly policy: CompanionPolicy;
  readonly clock: Clock;
  readonly limits: LimitOptions;
  readonly sha256: (() => Sha256) | undefined;
  /** The driver broke a rule of the channel. */
  readonly onFault: (fault: CompanionFault, scope: CompanionFaultScope) => void;
  /** Bytes came or were taken, or reading paused or goes on. */
  readonly onProgress: () => void;
}

/**
 * The data plane of one session: the companion channel where there is one, and what stands for it
 * where there is none.
 */
export class CompanionPlane {
  readonly #setup: PlaneSetup;
  #host: CompanionHost | undefined;
  #agreed = false;
  #closed = false;
  /** Gives up waiting for the driver to open the channel. */
  #stopWaiting: ((cause: SluiceError) => void) | undefined;
  /** Told of progress while the rest of the channel is read. */
  #onRest: (() => void) | undefined;

  constructor(setup: PlaneSetup) {
    this.#setup = setup;
    const channel = setup.offer?.channel;
    // The host answers as soon as the driver speaks, whatever the control plane's state.
    if (channel instanceof Promise) void channel.then((opened) => this.#open(opened));
    else if (channel !== undefined) this.#open(channel);
  }

  /** The channel, once both sides have agreed on it. */
  get host(): CompanionHost | undefined {
    return this.#agreed ? this.#host : undefined;
  }

  /** Whether the channel is being read, or there is none to read. */
  get reading(): boolean {
    return this.host?.reading ?? false;
  }

  /**
   * Settles after the hello whether there is a channel, and waits for the driver's end of it.
   *
   * @param timeout Milliseconds that are left of the start.
   * @throws {ProtocolError} `capability_mismatch` when one is required and the driver has none.
   * @throws {CompanionFault} `unavailable` when the driver says that it has one and does not open it in time.
   */
  async agree(capabilities: Capabilities, timeout: number): Promise<void> {
    const { offer, policy } = this.#setup;
    if (offer !== undefined && capabilities.protocols.includes(COMPANION_PROTOCOL)) {
      await this.#opened(offer, timeout);
      this.#agreed = true;
      return;
    }
    this.close();
    if (policy !== "required") return;
    const why =
      offer === undefined
        ? "was offered none"
        : `does not list ${COMPANION_PROTOCOL} among its protocols`;
    throw new ProtocolError(
      ErrorClass.CapabilityMismatch,
      `This host requires the companion channel, but the driver ${why}`,
    );
  }

  /** An announced stream; without a channel one whose reads reject with `unavailable`. */
  expect(ids: StreamIds, onChange: () => void): IncomingStream {
    return this.host?.expect(ids, onChange) ?? unavailableStream(ids);
  }

  startInvocation(ids: InvocationIds): void {
    this.host?.startInvocation(ids);
  }

  endInvocation(ids: InvocationIds): void {
    this.host?.endInvocation(ids);
  }

  /** Ends this side's half, so that the driver sees the end of its input. */
  halfClose(): void {
    this.host?.halfClose().catch(() => {});
  }

  /**
   * Reads what the driver wrote before the session ended, as long as streams are open: until the channel
   * ends, nothing has come for a while, or much is held.
   *
   * @param grace Milliseconds in which something must come.
   * @param bytes Most bytes that may be held for consumers.
   */
  async readRest({
    grace,
    bytes,
  }: {
    readonly grace: number;
    readonly bytes: number;
  }): Promise<void> {
    const { host } = this;
    if (host === undefined || host.openStreams.length === 0) return;
    const over = Promise.withResolvers<void>();
    const { clock } = this.#setup;
    let timer = clock.setTimer(over.resolve, grace);
    this.#onRest = () => {
      timer.cancel();
      if (host.openStreams.length === 0 || host.held.bytes > bytes) over.resolve();
      else timer = clock.setTimer(over.resolve, grace);
    };
    host.readOn();
    await Promise.race([host.ended, over.promise]);
    this.#onRest = undefined;
    timer.cancel();
  }

  /** Ends the channel, and streams that have not ended; or takes the offer of one back. */
  close(): void {
    this.#closed = true;
    this.#stopWaiting?.(new SluiceError("companion_closed", "The session has ended"));
    this.#setup.offer?.withdraw();
    this.#host?.close();
  }

  #open(channel: ByteDuplex): void {
    const { offer, limits, sha256, onFault, onProgress } = this.#setup;
    const host = new CompanionHost(channel, {
      ...limits,
      token: offer?.token,
      sha256,
      onFault,
      onProgress: () => {
        this.#onRest?.();
        onProgress();
      },
    });
    host.ready.catch(() => {});
    this.#host = host;
    if (this.#closed) host.close();
  }

  async #opened(offer: CompanionOffer, timeout: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    late.promise.catch(() => {});
    this.#stopWaiting = late.reject;
    const timer = this.#setup.clock.setTimer(
      () => late.reject(new SluiceError("timeout", `It did not open within ${timeout} ms`)),
      timeout,
    );
    try {
      await Promise.race([offer.channel, late.promise]);
      await Promise.race([this.#host!.ready, late.promise]);
    } catch (cause) {
      throw new CompanionFault(
        CompanionFaultCode.Unavailable,
        `Driver lists ${COMPANION_PROTOCOL} but did not open the channel that it was offered: a wrapper may have closed descriptor 3, then use companionVia: "unix"`,
        { cause },
      );
    } finally {
      timer.cancel();
      this.#stopWaiting = undefined;
    }
  }
}
