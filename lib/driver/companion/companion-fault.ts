import { SluiceError, type SluiceErrorOptions } from "../../errors.ts";
import { streamIds, type StreamIds } from "./stream-ids.ts";

/** What went wrong on the companion channel or with one of its streams. */
export const CompanionFaultCode = {
  /** The other side broke the rules of the channel; nothing on it can be trusted any more. */
  Malformed: "malformed",
  /** There is no channel, or it has ended before the stream was announced. */
  Unavailable: "unavailable",
  /** The first block did not prove that it comes from the driver. */
  WrongToken: "wrong_token",
  /** The other side takes no control blocks although it must always read. */
  ChannelStalled: "channel_stalled",
  /** The channel ended before the stream. */
  Truncated: "truncated",
  /** The stream did not end in time after `driver.completed`. */
  Incomplete: "incomplete",
  /** A full, unread stream of a serial driver held up everything else. */
  HeadOfLine: "head_of_line",
  /** A full, unread stream held up somebody who waits. */
  ConsumerStalled: "consumer_stalled",
  /** Too much came for streams that were not announced. */
  EarlyData: "early_data",
  /** Too much came for invocations that are over. */
  LateData: "late_data",
  /** The source of the stream failed, at the other side or at this one. */
  StreamAborted: "stream_aborted",
  /** The receiver did not want the rest of the stream. */
  StreamStopped: "stream_stopped",
  /** A serial driver answered `driver.invoke` only with or after `driver.completed`. */
  InputUnread: "input_unread",
  /** The driver has no way to get the input. */
  InputUndeliverable: "input_undeliverable",
} as const;
/** What went wrong on the companion channel or with one of its streams. */
export type CompanionFaultCode = (typeof CompanionFaultCode)[keyof typeof CompanionFaultCode];

/** A failure of the companion channel or of one of its streams; `data` has the ids or the byte offset. */
export class CompanionFault extends SluiceError {
  declare readonly code: CompanionFaultCode;

  static {
    Object.defineProperty(this.prototype, "name", {
      value: "CompanionFault",
      configurable: true,
      writable: true,
    });
  }

  constructor(code: CompanionFaultCode, message: string, options: SluiceErrorOptions = {}) {
    super(code, message, options);
  }
}

/** What more a fault may tell. */
interface FaultDetails {
  readonly ids?: StreamIds | undefined;
  readonly cause?: unknown;
}

/**
 * The fault of a channel whose other side broke the rules.
 *
 * @param offset Where the block at fault begins, in bytes from the start of the channel.
 * @param problem Completes "The block at byte 12 of the companion channel …".
 */
export function malformed(
  offset: number,
  problem: string,
  { ids, cause }: FaultDetails = {},
): CompanionFault {
  const message = `The block at byte ${offset} of the companion channel ${problem}`;
  return new CompanionFault(CompanionFaultCode.Malformed, message, {
    cause,
    data: { offset, ...(ids !== undefined && streamIds(ids)) },
  });
}

/** Marks a fault as the end of the channel in the midst of a block, which is how a crash looks. */
export function cutOff(fault: CompanionFault): CompanionFault {
  const { code, message, data, cause } = fault;
  return new CompanionFault(code, message, { cause, data: { ...data, cut: true } });
}

/** Tells whether a fault is the end of the channel in the midst of a block. */
export function isCutOff(fault: CompanionFault): boolean {
  return fault.data["cut"] === true;
}

/**
 * The fault of one stream.
 *
 * @param problem Completes "Data stream "x" …".
 */
export function streamFault(
  code: CompanionFaultCode,
  ids: StreamIds,
  { problem, cause }: { readonly problem: string; readonly cause?: unknown },
): CompanionFault {
  return new CompanionFault(code, `Data stream ${shown(ids.stream_id)} ${problem}`, {
    cause,
    data: { ...streamIds(ids) },
  });
}

/** A text of the other side, quoted and cut short. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
