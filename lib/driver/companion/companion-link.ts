import { isSluiceError, type SluiceError } from "../../errors.ts";
import { FrameWriter } from "../../rpc/frame-writer.ts";
import { handled, ignore } from "../../rpc/promises.ts";
import type { Sink, Stage } from "../../stage/stage.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { type BlockPart, blockParts } from "./block-parts.ts";
import { CompanionFault, CompanionFaultCode, malformed } from "./companion-fault.ts";
import type { CompanionHello, ControlBlock } from "./contract.ts";
import { encodeControlBlock } from "./encode-block.ts";
import { checkHello, type CompanionRole, helloOf, type HelloTerms } from "./hello.ts";

/** Who an end of the channel is. */
export interface LinkOptions extends HelloTerms {
  readonly role: CompanionRole;
  readonly writeQueueBytes: number;
}

/** What a {@link CompanionLink} hands its blocks to; what `part` throws breaks the channel. */
export interface LinkPort {
  /** Awaited before each read. */
  gate(): Promise<void> | undefined;
  /** The hellos were exchanged; called once, before everything below. */
  opened(peer: CompanionHello): void;
  /** Takes a block, or a part of one, in wire order. */
  part(part: BlockPart): void;
  /** Something was read and handed on. */
  progress(): void;
  /** Something was written. */
  written(): void;
  /** The other side takes nothing more. */
  deaf(failure: SluiceError): void;
  /**
   * Nothing more is read. Without a fault the channel has ended, as its reading broke for `cause` or the
   * other side ended its half; after a fault nothing more is written either.
   */
  over(fault: CompanionFault | undefined, cause?: unknown): void;
}

/** Larger chunks are taken in slices, so that little is held beyond a full stream. */
const SLICE_BYTES = 64 * 1024;

/**
 * One end of a companion channel as blocks: hellos, reading in order, bounded writing in order.
 *
 * Reading never waits for writing. Control blocks queued before the other side's hello are written
 * after it.
 */
export class CompanionLink {
  /** The other side's hello; rejects with a {@link CompanionFault} when it does not come. */
  readonly ready: Promise<CompanionHello>;
  readonly #options: LinkOptions;
  readonly #port: LinkPort;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: FrameWriter;
  readonly #decoder: Stage<Uint8Array, BlockPart>;
  readonly #sink: Sink<BlockPart>;
  readonly #opening = Promise.withResolvers<CompanionHello>();
  /** Control blocks that wait for the other side's hello; undefined once it came. */
  #held: Uint8Array[] | undefined = [];
  /** Nothing more is handed on. */
  #over = false;

  constructor(duplex: ByteDuplex, port: LinkPort, options: LinkOptions) {
    this.#options = options;
    this.#port = port;
    this.#decoder = blockParts(options.maxFrameBytes);
    this.#reader = duplex.readable.getReader();
    this.#writer = new FrameWriter(duplex.writable, {
      writeQueueBytes: options.writeQueueBytes,
      onFailure: (failure) => port.deaf(failure),
    });
    this.ready = handled(this.#opening.promise);
    const isOpen = (): boolean => !this.#over;
    this.#sink = {
      get open() {
        return isOpen();
      },
      next: (parts) => this.#parts(parts),
      fail: (fault) => {
        throw fault;
      },
    };
    if (options.role === "driver") this.#hello();
    void this.#run();
  }

  /** Whether anything can be written. */
  get writable(): boolean {
    return this.#writer.open;
  }

  /** Whether reading has not ended. */
  get readable(): boolean {
    return !this.#over;
  }

  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  /** Queues a control block; without effect once nothing can be written. */
  post(block: ControlBlock): void {
    const bytes = encodeControlBlock(block);
    if (this.#held !== undefined) {
      this.#held.push(bytes);
      return;
    }
    const refusal = this.#writer.refusal(bytes.length);
    if (refusal === undefined) void this.write(bytes);
    else if (isSluiceError(refusal, "write_queue_full")) this.#stalled(refusal);
  }

  /** Queues whole blocks; rejects when they cannot be written. */
  write(bytes: Uint8Array): Promise<void> {
    const written = this.#writer.write(bytes);
    written.then(() => this.#port.written(), ignore);
    return written;
  }

  /** Writes what is queued and ends this side's half; reading goes on. */
  halfClose(): Promise<void> {
    return this.#writer.close();
  }

  /** Ends both halves at once. */
  close(reason: SluiceError): void {
    this.#writer.abort(reason);
    if (this.#over) return;
    this.#end(undefined, reason);
  }

  #hello(): void {
    const { role, maxFrameBytes, window, token } = this.#options;
    const terms = { maxFrameBytes, window, token: role === "driver" ? token : undefined };
    void this.write(encodeControlBlock(helloOf(terms)));
  }

  async #run(): Promise<void> {
    try {
      await this.#read();
    } catch (thrown) {
      if (this.#over) return;
      if (thrown instanceof CompanionFault) this.#break(thrown);
      else this.#end(undefined, thrown);
    }
  }

  async #read(): Promise<void> {
    let cause: unknown;
    for (;;) {
      const next = await this.#next().catch((thrown: unknown) => {
        cause = thrown;
        return { done: true, value: undefined } as const;
      });
      if (this.#over) return;
      if (next.done) break;
      await this.#chunk(next.value);
      if (this.#over) return;
    }
    this.#decoder.end(this.#sink);
    this.#end(undefined, cause);
  }

  async #next(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const gate = this.#port.gate();
    if (gate !== undefined) await gate;
    return await this.#reader.read();
  }

  async #chunk(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#over; at += SLICE_BYTES) {
      const gate = at > 0 ? this.#port.gate() : undefined;
      if (gate !== undefined) await gate;
      if (this.#over) return;
      this.#decoder.push([chunk.subarray(at, at + SLICE_BYTES)], this.#sink);
      this.#port.progress();
    }
  }

  #parts(parts: readonly BlockPart[]): void {
    for (const part of parts) {
      if (this.#over) return;
      if (this.#held !== undefined) this.#open(part);
      else if (part.kind === "control" && part.block.type === "hello")
        throw malformed(part.offset, "is a second hello");
      else this.#port.part(part);
    }
  }

  /** Takes the other side's first block. */
  #open(part: BlockPart): void {
    const block = part.kind === "control" ? part.block : undefined;
    const peer = checkHello(block, this.#options);
    if (this.#options.role === "host") this.#hello();
    const held = this.#held!;
    this.#held = undefined;
    for (const bytes of held) void this.write(bytes);
    this.#port.opened(peer);
    this.#opening.resolve(peer);
  }

  #stalled(cause: SluiceError): void {
    const message = "The other side of the companion channel does not read it, as it always must";
    this.#break(new CompanionFault(CompanionFaultCode.ChannelStalled, message, { cause }));
  }

  #break(fault: CompanionFault): void {
    if (this.#over) return;
    this.#writer.abort(fault);
    this.#end(fault);
  }

  #end(fault: CompanionFault | undefined, cause?: unknown): void {
    this.#over = true;
    this.#reader.cancel(fault ?? cause).catch(ignore);
    this.#opening.reject(fault ?? notOpened(cause));
    this.#port.over(fault, cause);
  }
}

function notOpened(cause: unknown): CompanionFault {
  const message = "The companion channel ended before the other side's hello came";
  return new CompanionFault(CompanionFaultCode.Unavailable, message, { cause });
}
