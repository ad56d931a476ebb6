import type { Sha256 } from "../../json/digest.ts";
import type { Limits } from "../../limits.ts";
import { Tombstones } from "../../rpc/tombstones.ts";
import type { ByteSource } from "./byte-source.ts";
import { CompanionFault, CompanionFaultCode } from "./companion-fault.ts";
import type { CompanionHello } from "./contract.ts";
import { encodeControlBlock, encodeDataFrame } from "./encode-block.ts";
import { EarlyWishes, type Wish } from "./early-wishes.ts";
import { SentStream } from "./outgoing-stream.ts";
import { checkStreamId, type StreamIds, streamKey } from "./stream-ids.ts";

/** Below this many bytes waiting to be written, a further data frame is queued. */
const HIGH_WATER = 128 * 1024;

/** What an {@link Outbox} stands on. */
export interface OutboxPort {
  readonly limits: Limits;
  readonly sha256: (() => Sha256) | undefined;
  /** Bytes waiting to be written. */
  readonly queuedBytes: number;
  /** Queues bytes; {@link Outbox.pump} is called whenever something was written. */
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * All streams that one side sends, and whose turn it is.
 *
 * Streams that may send take turns frame by frame, and only a little is queued at a time, so that a
 * control block never waits behind much data. What has no credit waits for itself alone.
 */
export class Outbox {
  readonly #port: OutboxPort;
  readonly #streams: Map<string, SentStream> = new Map();
  readonly #past: Tombstones;
  readonly #wishes: EarlyWishes;
  /** Streams that may send, the one whose turn it is first. */
  readonly #ready: Set<SentStream> = new Set();
  /** Towards a side without credit: streams that were told to start, the one under way first. */
  readonly #started: Set<SentStream> = new Set();
  #peer: CompanionHello | undefined;
  #ends = 0;

  constructor(port: OutboxPort) {
    this.#port = port;
    this.#past = new Tombstones(port.limits.rememberedEnds);
    this.#wishes = new EarlyWishes(port.limits.rememberedEnds);
  }

  /** Streams whose last frame is not queued yet. */
  get open(): readonly SentStream[] {
    return [...this.#streams.values()];
  }

  /** The other side's hello came: streams may be sent. */
  begin(peer: CompanionHello): void {
    this.#peer = peer;
    for (const stream of this.open) stream.open();
    this.#advance();
  }

  /**
   * Takes a stream to send.
   *
   * @throws {RangeError} When its id has no 1 to 256 bytes.
   * @throws {TypeError} When the ids were used before, or the source is none.
   */
  send(ids: StreamIds, source: ByteSource): SentStream {
    checkStreamId(ids.stream_id);
    const key = streamKey(ids);
    if (this.#streams.has(key) || this.#past.has(key))
      throw new TypeError(`Data stream ${JSON.stringify(ids.stream_id)} was sent before`);
    const stream: SentStream = new SentStream(ids, source, {
      hash: this.#port.sha256?.(),
      frame: (header, payload) => this.#port.write(encodeDataFrame(header, payload)),
      abort: (block) => this.#port.write(encodeControlBlock(block)),
      ready: () => this.#queue(stream),
      start: () => this.#start(stream),
      ended: () => this.#forget(stream, key),
      nextEnd: () => (this.#ends += 1),
    });
    this.#streams.set(key, stream);
    if (this.#peer !== undefined) stream.open();
    const wish = this.#wishes.take(key);
    if (wish?.stopped === true) stream.stop();
    else if (wish !== undefined) stream.grant(wish.credit);
    return stream;
  }

  /** The receiver takes more of a stream; one that has ended is passed over. */
  grant(ids: StreamIds, bytes: number): void {
    this.#wish(ids, { credit: bytes, stopped: false });
  }

  /** The receiver wants nothing more of a stream; one that has ended is passed over. */
  stop(ids: StreamIds): void {
    this.#wish(ids, { credit: 0, stopped: true });
  }

  /** The receiver wants nothing more at all. */
  stopAll(): void {
    for (const stream of this.open) stream.stop();
  }

  /** Nothing can be sent any more. */
  end(cause: unknown): void {
    for (const stream of this.open) stream.lost(cause);
  }

  /** Ends all streams of this side, since it will send no more. */
  abortAll(): void {
    const message = "This side ends its half of the companion channel";
    for (const stream of this.open)
      stream.abort(
        new CompanionFault(CompanionFaultCode.StreamAborted, message, { data: { ...stream.ids } }),
      );
  }

  /** Queues frames while there is room for them. */
  pump(): void {
    while (this.#ready.size > 0 && this.#port.queuedBytes < HIGH_WATER) {
      const stream = this.#ready.values().next().value!;
      this.#ready.delete(stream);
      stream.sendFrame(this.#peer!.max_frame_bytes);
      if (stream.sendable) this.#ready.add(stream);
    }
  }

  #wish(ids: StreamIds, wish: Wish): void {
    const key = streamKey(ids);
    const stream = this.#streams.get(key);
    if (stream === undefined) {
      if (!this.#past.has(key)) this.#wishes.add(key, wish);
    } else if (wish.stopped) stream.stop();
    else stream.grant(wish.credit);
  }

  #queue(stream: SentStream): void {
    if (!stream.sendable) return;
    this.#ready.add(stream);
    this.pump();
  }

  #start(stream: SentStream): void {
    if (this.#peer !== undefined && this.#peer.window > 0) return;
    this.#started.add(stream);
    this.#advance();
  }

  /** Towards a side without credit, the first stream that was told to start may send all it has. */
  #advance(): void {
    if (this.#peer?.window !== 0) return;
    const [first] = this.#started;
    first?.grant(Infinity);
  }

  #forget(stream: SentStream, key: string): void {
    this.#streams.delete(key);
    this.#past.add(key);
    this.#ready.delete(stream);
    if (this.#started.delete(stream)) this.#advance();
  }
}
