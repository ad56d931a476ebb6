import { SluiceError } from "../../errors.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { Method } from "../contract/method.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { StopMode } from "./hosted-run.ts";
import type { Link } from "./link.ts";
import type { Entry } from "./run-entry.ts";

/** Why and how a run is stopped. */
interface Stop {
  readonly cause: SluiceError;
  readonly mode: StopMode;
  /** Whether the driver declared cancellation. */
  readonly capable: boolean;
}

/** What happens to a run whose driver does not end it. */
export interface CancelEnds {
  /** Whether the session goes on without it. */
  keep(): boolean;
  /** Ends it without a word of the driver. */
  giveUp(entry: Entry, cause: SluiceError): void;
}

/** Cancels the invocation under way and ends the driver when it does not heed (host-v1 §5). */
export class CancelFlow {
  readonly #link: Link;
  readonly #ends: CancelEnds;

  constructor(link: Link, ends: CancelEnds) {
    this.#link = link;
    this.#ends = ends;
  }

  /** Asks the driver to cancel where it can, and starts the deadline. */
  start(entry: Entry, stop: Stop): void {
    const { limits } = this.#link;
    if (stop.capable) this.#send(entry, stop.cause);
    if (stop.capable || stop.mode === "abort") {
      entry.timers.start("cancel", limits.cancelDeadline, () => this.#expired(entry, stop));
    } else {
      entry.timers.start("cancel", limits.drainTimeout, () => this.#undrained(entry));
    }
  }

  /** A run whose consumer left its loop is now given up for good: from here on the deadline counts. */
  hasten(entry: Entry, stop: Stop): void {
    if (stop.capable || entry.run.stopMode !== "break") return;
    entry.run.stopMode = "abort";
    this.start(entry, stop);
  }

  #send(entry: Entry, cause: SluiceError): void {
    const deadline = this.#link.limits.cancelDeadline;
    const params = {
      invocation_id: entry.run.invocationId,
      reason: cause.message.slice(0, 200) || cause.code,
      deadline_millis: deadline,
    };
    entry.machine!.requestCancel(params);
    // What the driver answers proves nothing: only its completion, or the deadline, ends the invocation.
    this.#link.peer.request(Method.Cancel, params, { timeout: deadline }).catch(() => {});
  }

  #expired(entry: Entry, { cause, capable }: Stop): void {
    const { cancelDeadline } = this.#link.limits;
    const { invocationId } = entry.run;
    const why = capable
      ? "did not end a cancelled invocation"
      : "cannot cancel, and did not end an invocation that was given up,";
    const keep = !this.#link.closing && this.#ends.keep();
    const what = fate(this.#link.closing, keep);
    const error = new ProtocolError(
      ErrorClass.CancellationTimeout,
      `Driver ${why} within ${cancelDeadline} ms; ${what}`,
      { data: { invocationId, deadline: cancelDeadline }, cause },
    );
    // A close has rungs of its own for what follows.
    if (this.#link.closing || keep) this.#ends.giveUp(entry, error);
    else this.#link.fail(error, "SIGKILL");
  }

  #undrained({ run }: Entry): void {
    const { drainTimeout } = this.#link.limits;
    this.#link.fail(
      new SluiceError(
        "drain_timeout",
        `Driver cannot cancel, and an invocation that nobody reads did not end within ${drainTimeout} ms`,
        {
          data: { invocationId: run.invocationId, timeout: drainTimeout },
        },
      ),
    );
  }
}

function fate(closing: boolean, keep: boolean): string {
  if (keep) return "the session goes on without it";
  return closing ? "it is being ended" : "it is being killed";
}
