import type { Sha256 } from "../../json/digest.ts";
import type { Limits } from "../../limits.ts";
import { Tombstones } from "../../rpc/tombstones.ts";
import type { DataFrameHeader } from "../contract/data-frame-header.ts";
import { CompanionFault, CompanionFaultCode, malformed, shown } from "./companion-fault.ts";
import type { CompanionAbort, CompanionCredit, CompanionStop } from "./contract.ts";
import { EarlyStreams } from "./early-streams.ts";
import { CreditFlow, SerialFlow } from "./flow.ts";
import { ReceivedStream } from "./incoming-stream.ts";
import { InvocationBook } from "./invocation-book.ts";
import { ReadingGate } from "./reading-gate.ts";
import { type InvocationIds, sameStream, type StreamIds, streamKey } from "./stream-ids.ts";
import { unavailable } from "./unavailable.ts";

/** What an {@link Inbox} stands on. */
export interface InboxPort {
  readonly limits: Limits;
  /** Whether frames of an invocation that was not started here break the channel. */
  readonly strict: boolean;
  readonly sha256: (() => Sha256) | undefined;
  send(block: CompanionCredit | CompanionStop): void;
  /** Something moved: bytes were taken, a read waits, a stream ended, reading paused or goes on. */
  changed(): void;
}

/** Where a block lies. */
interface Place {
  readonly offset: number;
  readonly size: number;
}

/**
 * All streams that one side receives: whose frame is whose, and what is held, dropped or refused.
 *
 * What it throws from `header`, `payload` and `abort` ends the channel.
 */
export class Inbox {
  readonly gate: ReadingGate;
  readonly book: InvocationBook;
  readonly #port: InboxPort;
  /** Streams not yet ended, and ended ones that nobody has asked for yet. */
  readonly #streams: Map<string, ReceivedStream> = new Map();
  readonly #early: EarlyStreams;
  /** Streams that were asked for and have ended; the oldest are forgotten. */
  readonly #past: Tombstones;
  #serial = false;
  /** Of a serial sender: the stream in whose midst it is. */
  #underway: ReceivedStream | undefined;
  /** Whose payload comes; undefined while it is dropped. */
  #current: ReceivedStream | undefined;
  /** The stream of the last block, which the next one often is of. */
  #last: ReceivedStream | undefined;
  #late = 0;
  #ends = 0;
  /** Why nothing more can come. */
  #over: CompanionFault | undefined;

  constructor(port: InboxPort) {
    const { limits } = port;
    this.#port = port;
    this.gate = new ReadingGate(() => port.changed());
    this.book = new InvocationBook(limits.tombstones);
    this.#past = new Tombstones(limits.rememberedEnds);
    this.#early = new EarlyStreams({
      bytes: limits.earlyBytes,
      streams: limits.rememberedEnds,
      forget: !port.strict,
    });
  }

  /** Whether something is held for which nobody has asked yet. */
  get heldEarly(): boolean {
    return this.#early.size > 0;
  }

  /** Streams that were asked for and have not ended. */
  get open(): readonly ReceivedStream[] {
    return [...this.#streams.values()].filter((stream) => stream.announced);
  }

  /** Bytes held in all streams that have not ended or were not asked for, and what they cost. */
  get held(): { readonly bytes: number; readonly cost: number } {
    const sum = { bytes: 0, cost: 0 };
    for (const { held } of this.#streams.values()) {
      sum.bytes += held.bytes;
      sum.cost += held.cost;
    }
    return sum;
  }

  /** The other side has said that it knows no credit. */
  becomeSerial(): void {
    this.#serial = true;
  }

  /**
   * Asks for a stream, once.
   *
   * @returns Undefined when it was asked for before.
   */
  expect(ids: StreamIds): ReceivedStream | undefined {
    const key = streamKey(ids);
    const early = this.#streams.get(key);
    if (early?.announced === true || this.#past.has(key)) return undefined;
    const stream = early ?? this.#create(ids, key);
    stream.announced = true;
    this.#early.delete(stream);
    if (early === undefined && this.#over !== undefined) stream.lost(unavailable(ids, this.#over));
    this.#settled(stream);
    return stream;
  }

  /** Nobody will ask for streams of this invocation any more; those asked for go on to their end. */
  endInvocation(ids: InvocationIds): void {
    this.book.end(ids);
    for (const stream of this.#early) {
      if (stream.ids.invocation_id === ids.invocation_id) this.#drop(stream);
    }
  }

  /** Takes the header of a data frame. */
  header(header: DataFrameHeader, { offset, size }: Place): void {
    const stream = this.#route(header, { offset, size: size + header.length });
    this.#current = stream;
    if (stream === undefined) return;
    if (this.#serial) this.#oneAtATime(stream, offset);
    stream.frame(header, offset);
    this.#early.count(stream, header.length);
  }

  /** Takes a part of the payload that belongs to the last header. */
  payload(bytes: Uint8Array, last: boolean): void {
    const stream = this.#current;
    if (stream === undefined) return;
    stream.payload(bytes, last);
    if (this.#serial) this.#settled(stream);
  }

  /** Takes the sender's word that the source of a stream failed. */
  abort(block: CompanionAbort, place: Place): void {
    const key = streamKey(block);
    if (this.#past.has(key) || this.#streams.get(key)?.outcome !== undefined) return;
    this.#route(block, place)?.aborted(block.reason);
  }

  /**
   * Looks at the ids of a credit or stop, which name a stream of this side.
   *
   * @throws {CompanionFault} `malformed` when their invocation never began here, or the other side is serial.
   */
  checkSent(ids: StreamIds, offset: number): void {
    if (this.#serial)
      throw malformed(offset, "is a credit or stop, from a side that said it knows none", { ids });
    if (this.#port.strict && this.book.standing(ids) === "unknown") throw neverSent(ids, offset);
  }

  /** Nothing more comes; `fault` tells why, and ends what is open. */
  end(fault: (stream: ReceivedStream) => CompanionFault, over: CompanionFault): void {
    this.#over ??= over;
    for (const stream of this.#streams.values()) stream.lost(fault(stream));
  }

  /** This side can neither grant nor stop any more. */
  deafen(fault: (stream: ReceivedStream) => CompanionFault): void {
    if (this.#serial) return;
    for (const stream of this.#streams.values())
      if (stream.outcome === undefined) stream.discard(fault(stream));
  }

  /** The stream that a block belongs to; undefined when its invocation is over. */
  #route(ids: StreamIds, { offset, size }: Place): ReceivedStream | undefined {
    const last = this.#last;
    if (last?.outcome === undefined && last !== undefined && sameStream(last.ids, ids)) return last;
    const key = streamKey(ids);
    const known = this.#streams.get(key);
    if (known !== undefined && known.outcome === undefined) return (this.#last = known);
    const standing = this.book.standing(ids);
    if (standing === "over") return this.#tooLate(size);
    if (standing === "unknown" && this.#port.strict) throw neverSent(ids, offset);
    if (known !== undefined || this.#past.has(key))
      throw malformed(offset, `is for data stream ${shown(ids.stream_id)}, which has ended`, {
        ids,
      });
    const stream = this.#create(ids, key);
    const forgotten = this.#early.add(stream);
    if (forgotten !== undefined) this.#drop(forgotten);
    return stream;
  }

  #create(ids: StreamIds, key: string): ReceivedStream {
    const { limits, sha256 } = this.#port;
    const stream = new ReceivedStream(ids, {
      flow: this.#serial
        ? new SerialFlow(limits.serialStreamBytes)
        : new CreditFlow(limits.companionWindow),
      hash: sha256?.(),
      grant: (bytes) => this.#port.send({ type: "credit", ...stream.ids, bytes }),
      stop: () => {
        if (!this.#serial) this.#port.send({ type: "stop", ...stream.ids });
      },
      changed: () => this.#settled(stream),
      nextEnd: () => (this.#ends += 1),
    });
    this.#streams.set(key, stream);
    return stream;
  }

  #oneAtATime(stream: ReceivedStream, offset: number): void {
    const other = this.#underway;
    if (other !== undefined && other !== stream) {
      const names = `${shown(stream.ids.stream_id)} before data stream ${shown(other.ids.stream_id)} has ended`;
      throw malformed(offset, `begins data stream ${names}, from a side without credit`, {
        ids: stream.ids,
      });
    }
    this.#underway = stream;
  }

  /** Brings everything that depends on a stream's state up to it. */
  #settled(stream: ReceivedStream): void {
    if (stream.outcome !== undefined) {
      if (this.#underway === stream) this.#underway = undefined;
      if (stream.announced) this.#forget(stream);
    }
    this.gate.hold(stream, this.#serial && stream.announced && stream.full);
    stream.onChange?.();
    this.#port.changed();
  }

  /** Forgets a stream for which nobody has asked. */
  #drop(stream: ReceivedStream): void {
    this.#early.delete(stream);
    this.#streams.delete(streamKey(stream.ids));
    if (this.#underway === stream) this.#underway = undefined;
    if (this.#current === stream) this.#current = undefined;
    if (this.#last === stream) this.#last = undefined;
    if (stream.outcome === undefined && !this.#serial)
      this.#port.send({ type: "stop", ...stream.ids });
    this.#port.changed();
  }

  #forget(stream: ReceivedStream): void {
    const key = streamKey(stream.ids);
    if (this.#streams.delete(key)) this.#past.add(key);
  }

  /** Only a driver can go on with what is over; a host has to end its inputs late, and sends no more than was granted. */
  #tooLate(size: number): undefined {
    this.#late += size;
    if (!this.#port.strict || this.#late <= this.#port.limits.lateBytes) return;
    throw new CompanionFault(
      CompanionFaultCode.LateData,
      `${this.#late} bytes of data streams came for invocations that are over`,
      { data: { bytes: this.#late } },
    );
  }
}

function neverSent(ids: StreamIds, offset: number): CompanionFault {
  return malformed(offset, "belongs to an invocation that was never sent", { ids });
}
