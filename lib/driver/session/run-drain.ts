import { isSluiceError, type SluiceError } from "../../errors.ts";
import { type CompanionFault, CompanionFaultCode, streamFault } from "../companion/mod.ts";
import type { CompletedParams } from "../contract/completed.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import type { HostedRun } from "./hosted-run.ts";
import type { Link } from "./link.ts";
import { PausableTimer } from "./pausable-timer.ts";
import { ProtocolFault } from "./reasons.ts";
import type { Completion } from "./run.ts";

/** The last part of a run: the driver has completed it, and its data streams come to their end. */
export class RunDrain {
  readonly #link: Link;
  readonly #plane: CompanionPlane;
  readonly #timers: Set<PausableTimer> = new Set();

  constructor(link: Link, plane: CompanionPlane) {
    this.#link = link;
    this.#plane = plane;
  }

  /** Reading the channel was paused or goes on: only time in which it is read counts. */
  progress(): void {
    for (const timer of this.#timers) timer.run(this.#plane.reading);
  }

  /**
   * Finishes a run now, or once its streams have ended.
   *
   * @param over Called when the run is over in this respect.
   * @throws {ProtocolError} `malformed_observation`, code `summary_mismatch`, when that can be told at once.
   */
  begin(run: HostedRun, params: CompletedParams, over: () => void): void {
    if (run.streams.open.size === 0) {
      checkSummary(run, params);
      run.finish(completionOf(run, params));
      return over();
    }
    run.drain();
    let incomplete: CompanionFault | undefined;
    const { dataTimeout } = this.#link.limits;
    const timer = new PausableTimer(this.#link.clock, dataTimeout, () => {
      run.streams.failAll(({ ids }) => {
        const problem = `had not ended ${dataTimeout} ms after the driver completed the invocation`;
        incomplete = streamFault(CompanionFaultCode.Incomplete, ids, { problem });
        return incomplete;
      });
    });
    this.#timers.add(timer);
    timer.run(this.#plane.reading);
    run.streams.onceSettled(() => {
      timer.cancel();
      this.#timers.delete(timer);
      if (run.phase === "draining") this.#settle(run, { params, incomplete });
      over();
    });
  }

  #settle(
    run: HostedRun,
    { params, incomplete }: { params: CompletedParams; incomplete: SluiceError | undefined },
  ): void {
    try {
      checkSummary(run, params);
      run.finish({ ...completionOf(run, params), ...(incomplete !== undefined && { incomplete }) });
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      const fault = new ProtocolFault(error);
      this.#link.fail(fault);
      // The session may have ended before, and then leaves what drains alone.
      run.fail(fault);
    }
  }
}

function completionOf(run: HostedRun, params: CompletedParams): Completion {
  const { status, summary_digest, last_sequence } = params;
  return {
    status,
    summary_digest,
    ...(last_sequence !== undefined && { last_sequence }),
    ...(run.cause !== undefined && { cancelled: run.cause }),
  };
}

/** The rule of `sluice.summary.v1`; not applied where a stream did not come whole. */
function checkSummary(run: HostedRun, params: CompletedParams): void {
  const expected = run.streamSummary?.digest();
  if (expected === undefined || expected === params.summary_digest) return;
  throw new ProtocolError(
    ErrorClass.MalformedObservation,
    `Summary digest of invocation ${run.invocationId} is ${params.summary_digest}, but what arrived has ${expected}`,
    { code: "summary_mismatch" },
  );
}
