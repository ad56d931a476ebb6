import { type SluiceError, toSluiceError } from "../../errors.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import { RemoteError } from "../../rpc/rpc-error.ts";
import type { InvokeParams } from "../contract/invoke.ts";
import { Method } from "../contract/method.ts";
import type { CompanionPlane } from "./companion-plane.ts";
import type { HostedRun } from "./hosted-run.ts";
import type { Link } from "./link.ts";
import type { Entry } from "./run-entry.ts";
import type { RunInput } from "./run-input.ts";

/** Begins invocations and sends them. */
export class RunStart {
  readonly #link: Link;
  readonly #plane: CompanionPlane;
  readonly #input: RunInput;
  #sending: HostedRun | undefined;

  constructor(link: Link, plane: CompanionPlane, input: RunInput) {
    this.#link = link;
    this.#plane = plane;
    this.#input = input;
  }

  /**
   * Begins an invocation whose input is arranged, on both planes.
   *
   * @returns Why it cannot be begun; undefined when it was.
   */
  begin(entry: Entry): SluiceError | undefined {
    const params = paramsOf(entry);
    try {
      entry.machine = this.#link.lifecycle.begin(params);
    } catch (error) {
      return error as SluiceError;
    }
    this.#plane.startInvocation(params);
    try {
      this.#input.begin(entry);
      return undefined;
    } catch (error) {
      this.takeBack(entry);
      return toSluiceError(error, "input_undeliverable", "The input cannot be delivered");
    }
  }

  /**
   * Sends what was begun.
   *
   * @param failed Called when it could not be written.
   */
  send(entry: Entry, failed: (error: SluiceError) => void): void {
    const { run, answer } = entry;
    this.#sending = run;
    const answered = this.#link.peer.request(Method.Invoke, paramsOf(entry), {
      timeout: 0,
      signal: answer.signal,
    });
    this.#sending = undefined;
    // An answer of the driver was dealt with when it came.
    answered.catch((error: SluiceError) => {
      const unsent = run.phase === "active" && run.requestId === undefined;
      if (unsent && !(error instanceof RemoteError)) failed(error);
    });
  }

  /** Notes the request's id as it goes out. */
  sent(message: RpcMessage): void {
    if (message.method === Method.Invoke && this.#sending !== undefined)
      this.#sending.requestId = message.id!;
  }

  /** It never ran: its id is used up, its place is free. */
  takeBack({ run, machine }: Entry): void {
    const { invocationId, attemptId } = run;
    machine!.rejectInvocation(invocationId);
    this.#plane.endInvocation({ invocation_id: invocationId, attempt_id: attemptId });
    this.#link.lifecycle.end(invocationId);
  }
}

function paramsOf({ run, handle }: Entry): InvokeParams {
  return {
    invocation_id: run.invocationId,
    attempt_id: run.attemptId,
    operation: run.operation,
    ephemeral_exact_input_handle: handle!,
  };
}
