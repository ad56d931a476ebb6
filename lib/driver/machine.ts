import type { StateMachine } from "../machine/state-machine.ts";
import { CheckedMessage } from "./codec/checked-message.ts";
import type { Message } from "./codec/message.ts";
import { CancelParams } from "./contract/cancel.ts";
import { CompletedParams } from "./contract/completed.ts";
import { ErrorClass } from "./contract/error-class.ts";
import { InvokeParams } from "./contract/invoke.ts";
import { Method } from "./contract/method.ts";
import { ObservationParams } from "./contract/observation.ts";
import { ProtocolError } from "./contract/protocol-error.ts";
import { readRecord } from "./contract/validate.ts";
import { UsedIds } from "./used-ids.ts";

/** The states of one serial session. */
export const State = {
  New: "NEW",
  Hello: "HELLO",
  Prepared: "PREPARED",
  Invoking: "INVOKING",
  Shutdown: "SHUTDOWN",
} as const;
/** A state of one serial session. */
export type State = (typeof State)[keyof typeof State];

/** A copy of what the machine knows of the invocation under way; it holds nothing secret. */
export interface ActiveInvocation {
  readonly invocationId: string;
  readonly attemptId: string;
  /** 0 until the first observation; see `hasObservation`. */
  readonly lastSequence: number;
  readonly hasObservation: boolean;
  readonly cancelRequested: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Judges one serial session of driver protocol v1 (§9): which operation is allowed when, and whether
 * observations and the end belong to the invocation under way.
 *
 * Every operation checks its params first, then the state, then the rest; one that throws has changed
 * nothing. A driver with concurrency needs one machine per invocation.
 */
export class Machine implements StateMachine<Message> {
  #state: State = State.New;
  #active: Mutable<ActiveInvocation> | undefined;
  readonly #used: UsedIds;

  /** @param used The ids used so far, where several machines share one session. */
  constructor(used: UsedIds = new UsedIds()) {
    this.#used = used;
  }

  /** The present state. */
  get state(): State {
    return this.#state;
  }

  /** A copy of the invocation under way; undefined when there is none. */
  get active(): ActiveInvocation | undefined {
    return this.#active && { ...this.#active };
  }

  /** NEW to HELLO, after a successful hello. @throws {ProtocolError} `invalid_state`. */
  acceptHello(): void {
    this.#require("driver.hello", State.New);
    this.#state = State.Hello;
  }

  /** HELLO to PREPARED, after a successful prepare. @throws {ProtocolError} `invalid_state`. */
  acceptPrepare(): void {
    this.#require("driver.prepare", State.Hello);
    this.#state = State.Prepared;
  }

  /** Allows a capability query in HELLO and PREPARED. @throws {ProtocolError} `invalid_state`. */
  checkCapabilities(): void {
    this.#require("driver.capabilities", State.Hello, State.Prepared);
  }

  /**
   * PREPARED to INVOKING.
   *
   * @throws {ProtocolError} `invalid_request` for bad params or an id that was used in this session,
   *   `invalid_state`, or `budget_exceeded` with code `session_exhausted` when no more ids fit.
   */
  beginInvocation(params: InvokeParams): void {
    this.#begin(readRecord(InvokeParams, params, ErrorClass.InvalidRequest));
  }

  /** Notes a cancel of the invocation under way. @throws {ProtocolError} `invalid_request`, `invalid_state`. */
  requestCancel(params: CancelParams): void {
    this.#cancel(readRecord(CancelParams, params, ErrorClass.InvalidRequest));
  }

  /** Takes an observation. @throws {ProtocolError} `malformed_observation`, `invalid_state`. */
  observe(params: ObservationParams): void {
    this.#observe(readRecord(ObservationParams, params, ErrorClass.MalformedObservation));
  }

  /** INVOKING to PREPARED. @throws {ProtocolError} `malformed_observation`, `invalid_state`. */
  complete(params: CompletedParams): void {
    this.#complete(readRecord(CompletedParams, params, ErrorClass.MalformedObservation));
  }

  /**
   * INVOKING to PREPARED when the driver refused the invocation: it never ran, its id is used up.
   *
   * @throws {ProtocolError} `invalid_state` when it is not the invocation under way;
   *   `malformed_observation` when it was observed already.
   */
  rejectInvocation(invocationId: string): void {
    this.#require("the refusal of an invocation", State.Invoking);
    if (this.#active?.invocationId !== invocationId) {
      throw new ProtocolError(
        ErrorClass.InvalidState,
        `Invocation ${invocationId} is not under way`,
      );
    }
    if (this.#active.hasObservation) {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Invocation ${invocationId} was refused after an observation of it`,
      );
    }
    this.#end(invocationId);
  }

  /** Allows a reset in PREPARED; used ids stay used. @throws {ProtocolError} `invalid_state`. */
  reset(): void {
    this.#require("driver.reset", State.Prepared);
  }

  /** PREPARED to SHUTDOWN. @throws {ProtocolError} `invalid_state`. */
  shutdown(): void {
    this.#require("driver.shutdown", State.Prepared);
    this.#state = State.Shutdown;
  }

  /**
   * Checks a request or notification and applies it.
   *
   * @throws {ProtocolError} Whatever the codec or the operation refuses; `invalid_request` for a response.
   */
  apply(message: Message): void {
    const checked = CheckedMessage.of(message);
    const params = CheckedMessage.recordOf(checked) as never;
    switch (checked.method) {
      case Method.Hello:
        return this.acceptHello();
      case Method.Prepare:
        return this.acceptPrepare();
      case Method.Capabilities:
        return this.checkCapabilities();
      case Method.Invoke:
        return this.#begin(params);
      case Method.Cancel:
        return this.#cancel(params);
      case Method.Observation:
        return this.#observe(params);
      case Method.Completed:
        return this.#complete(params);
      case Method.Reset:
        return this.reset();
      case Method.Shutdown:
        return this.shutdown();
      default:
        throw new ProtocolError(
          ErrorClass.InvalidRequest,
          "A response cannot be applied: its request says what it is",
        );
    }
  }

  #begin(params: InvokeParams): void {
    this.#require("driver.invoke", State.Prepared);
    if (this.#used.has(params.invocation_id)) {
      throw new ProtocolError(
        ErrorClass.InvalidRequest,
        `Invocation id ${params.invocation_id} was used before in this session`,
      );
    }
    this.#used.checkRoom();
    this.#active = {
      invocationId: params.invocation_id,
      attemptId: params.attempt_id,
      lastSequence: 0,
      hasObservation: false,
      cancelRequested: false,
    };
    this.#state = State.Invoking;
  }

  #cancel(params: CancelParams): void {
    const active = this.#requireActive("driver.cancel");
    if (params.invocation_id !== active.invocationId) {
      throw new ProtocolError(
        ErrorClass.InvalidRequest,
        `Cancel names invocation ${params.invocation_id}, but ${active.invocationId} is under way`,
      );
    }
    active.cancelRequested = true;
  }

  #observe(params: ObservationParams): void {
    const active = this.#requireActive("driver.observation");
    checkIds(params, active);
    if (active.hasObservation && params.sequence <= active.lastSequence) {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Observation has sequence ${params.sequence}, which is not above the last one, ${active.lastSequence}`,
      );
    }
    active.lastSequence = params.sequence;
    active.hasObservation = true;
  }

  #complete(params: CompletedParams): void {
    const active = this.#requireActive("driver.completed");
    checkIds(params, active);
    const expected = active.hasObservation ? active.lastSequence : undefined;
    if (params.last_sequence !== expected) {
      throw new ProtocolError(
        ErrorClass.MalformedObservation,
        `Completion names last sequence ${params.last_sequence ?? "none"}, but it was ${expected ?? "none"}`,
      );
    }
    this.#end(active.invocationId);
  }

  #end(invocationId: string): void {
    this.#used.add(invocationId);
    this.#active = undefined;
    this.#state = State.Prepared;
  }

  #requireActive(operation: string): Mutable<ActiveInvocation> {
    this.#require(operation, State.Invoking);
    return this.#active!;
  }

  #require(operation: string, ...allowed: readonly State[]): void {
    if (allowed.includes(this.#state)) return;
    throw new ProtocolError(
      ErrorClass.InvalidState,
      `${operation} is not allowed in state ${this.#state}, only in ${allowed.join(" or ")}`,
      { data: { state: this.#state, allowed } },
    );
  }
}

function checkIds(params: ObservationParams | CompletedParams, active: ActiveInvocation): void {
  if (params.invocation_id === active.invocationId && params.attempt_id === active.attemptId)
    return;
  throw new ProtocolError(
    ErrorClass.MalformedObservation,
    `Message belongs to attempt ${params.attempt_id} of invocation ${params.invocation_id}, but attempt ${active.attemptId} of ${active.invocationId} is under way`,
  );
}
