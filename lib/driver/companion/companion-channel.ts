import type { SluiceError } from "../../errors.ts";
import { createSha256, type Sha256 } from "../../json/digest.ts";
import { checkLimit, type LimitOptions, type Limits, resolveLimits } from "../../limits.ts";
import { handled } from "../../rpc/promises.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import type { BlockPart } from "./block-parts.ts";
import { CompanionFault, CompanionFaultCode, isCutOff, streamFault } from "./companion-fault.ts";
import { CompanionLink } from "./companion-link.ts";
import { type CompanionHello, MAX_CREDIT } from "./contract.ts";
import type { CompanionRole } from "./hello.ts";
import { Inbox } from "./inbox.ts";
import type { ReceivedStream } from "./incoming-stream.ts";
import { Outbox } from "./outbox.ts";

/**
 * What a fault on the channel concerns: with `channel` it alone is broken and the session may go on
 * without it, with `session` the other side did what no session goes on after.
 */
export type CompanionFaultScope = "session" | "channel";

/** Options of both ends of a companion channel. */
export interface CompanionOptions extends LimitOptions {
  /** What the driver was given to prove itself; a host without one checks none. */
  readonly token?: string | undefined;
  /**
   * Makes the digests of streams, `false` for none. Default: portable code, which is much slower than
   * the channel; adapters give their runtime's own.
   */
  readonly sha256?: (() => Sha256) | false | undefined;
  /**
   * The other side broke a rule after `ready`; every open stream has the fault and nothing more is read
   * or written. Faults before that reject `ready` alone.
   */
  readonly onFault?: ((fault: CompanionFault, scope: CompanionFaultScope) => void) | undefined;
  /** Bytes came, were taken or were asked for, a stream ended, or reading paused or goes on. */
  readonly onProgress?: (() => void) | undefined;
}

/** What both ends share: the link, the streams in each direction, and how one's end is the other's. */
export class CompanionChannel {
  readonly limits: Limits;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly link: CompanionLink;
  /** Resolves once nothing more is read: with the fault, or the cause, or undefined for a proper end. */
  readonly ended: Promise<unknown>;
  readonly #options: CompanionOptions;
  readonly #ended = Promise.withResolvers<unknown>();
  #peer: CompanionHello | undefined;

  constructor(duplex: ByteDuplex, role: CompanionRole, options: CompanionOptions) {
    const limits = resolveLimits(options);
    checkLimit("companionWindow", limits.companionWindow, MAX_CREDIT);
    const sha256 = options.sha256 === false ? undefined : (options.sha256 ?? createSha256);
    this.limits = limits;
    this.#options = options;
    this.ended = handled(this.#ended.promise);
    this.inbox = new Inbox({
      limits,
      sha256,
      strict: role === "host",
      send: (block) => this.link.post(block),
      changed: () => options.onProgress?.(),
    });
    const queued = (): number => this.link.queuedBytes;
    this.outbox = new Outbox({
      limits,
      sha256,
      get queuedBytes() {
        return queued();
      },
      write: (bytes) => this.link.write(bytes),
    });
    this.link = new CompanionLink(duplex, this.#port(), {
      role,
      token: options.token,
      maxFrameBytes: limits.dataFrameBytes,
      window: limits.companionWindow,
      writeQueueBytes: limits.writeQueueBytes,
    });
  }

  /** Whether the other side knows no credit. */
  get serial(): boolean {
    return this.#peer?.window === 0;
  }

  /** Whether new streams can be sent: a side with credit that has ended its half grants no more. */
  get sendable(): boolean {
    return this.link.writable && (this.link.readable || this.serial);
  }

  /** Ends this side's half: what it still sends is aborted, and with credit what it receives is stopped. */
  async halfClose(): Promise<void> {
    this.outbox.abortAll();
    const problem = "was stopped: this side has ended its half of the companion channel";
    this.inbox.deafen(({ ids }) => streamFault(CompanionFaultCode.StreamStopped, ids, { problem }));
    await this.link.halfClose();
  }

  /** Ends both halves at once; streams not ended are `truncated`. */
  close(reason: SluiceError): void {
    this.link.close(reason);
    this.outbox.end(reason);
  }

  #port(): ConstructorParameters<typeof CompanionLink>[1] {
    return {
      gate: () => this.inbox.gate.wait(),
      opened: (peer) => this.#opened(peer),
      part: (part) => this.#part(part),
      progress: () => this.#options.onProgress?.(),
      written: () => this.outbox.pump(),
      deaf: (failure) => this.outbox.end(failure),
      over: (fault, cause) => this.#over(fault, cause),
    };
  }

  #opened(peer: CompanionHello): void {
    this.#peer = peer;
    if (peer.window === 0) this.inbox.becomeSerial();
    this.outbox.begin(peer);
  }

  #part(part: BlockPart): void {
    if (part.kind === "payload") return this.inbox.payload(part.bytes, part.last);
    if (part.kind === "header") return this.inbox.header(part.header, part);
    const { block } = part;
    if (block.type === "abort") return this.inbox.abort(block, part);
    if (block.type === "hello") return;
    this.inbox.checkSent(block, part.offset);
    if (block.type === "stop") this.outbox.stop(block);
    else this.outbox.grant(block, block.bytes);
  }

  #over(fault: CompanionFault | undefined, cause: unknown): void {
    const end = fault ?? endOfChannel(cause);
    const broken = fault === undefined || isCutOff(fault) ? undefined : fault;
    this.inbox.end((stream) => broken ?? truncated(stream, fault ?? cause), end);
    if (fault !== undefined) this.outbox.end(fault);
    else if (!this.serial) this.outbox.stopAll();
    this.#ended.resolve(fault ?? cause);
    if (fault !== undefined && this.#peer !== undefined)
      this.#options.onFault?.(fault, scopeOf(fault));
    this.#options.onProgress?.();
  }
}

function scopeOf({ code }: CompanionFault): CompanionFaultScope {
  const ends = code === CompanionFaultCode.EarlyData || code === CompanionFaultCode.LateData;
  return ends ? "session" : "channel";
}

function truncated({ ids }: ReceivedStream, cause: unknown): CompanionFault {
  const problem = "was cut off: the companion channel ended before its final frame";
  return streamFault(CompanionFaultCode.Truncated, ids, { problem, cause });
}

function endOfChannel(cause: unknown): CompanionFault {
  return new CompanionFault(CompanionFaultCode.Unavailable, "The companion channel has ended", {
    cause,
  });
}
