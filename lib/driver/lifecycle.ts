import { ErrorClass } from "./contract/error-class.ts";
import type { InvokeParams } from "./contract/invoke.ts";
import { ProtocolError } from "./contract/protocol-error.ts";
import { Machine, State } from "./machine.ts";
import { UsedIds } from "./used-ids.ts";

/**
 * The states of a session: a machine for the session itself and one for each invocation under way
 * (host-v1 §1). While any is, the session is INVOKING and takes nothing else.
 */
export class Lifecycle {
  readonly #used: UsedIds;
  readonly #base: Machine;
  readonly #room: number;
  readonly #active: Map<string, Machine> = new Map();

  /**
   * @param usedIds Most invocation ids that the session may use.
   * @param room Most invocations at a time; default: the caller sees to it.
   */
  constructor(usedIds: number, room: number = Infinity) {
    this.#used = new UsedIds(usedIds);
    this.#room = room;
    this.#base = new Machine(this.#used);
  }

  get state(): State {
    return this.#active.size > 0 ? State.Invoking : this.#base.state;
  }

  acceptHello(): void {
    this.#base.acceptHello();
  }

  acceptPrepare(): void {
    this.#base.acceptPrepare();
  }

  /** @throws {ProtocolError} `invalid_state`. */
  checkCapabilities(): void {
    this.#requireIdle("driver.capabilities");
    this.#base.checkCapabilities();
  }

  /** @throws {ProtocolError} `invalid_state`. */
  reset(): void {
    this.#requireIdle("driver.reset");
    this.#base.reset();
  }

  /** @throws {ProtocolError} `invalid_state`. */
  shutdown(): void {
    this.#requireIdle("driver.shutdown");
    this.#base.shutdown();
  }

  /**
   * Begins an invocation.
   *
   * @returns Its machine, in state INVOKING.
   * @throws {ProtocolError} `invalid_state`, or `invalid_request` for bad params and for an id that was
   *   used before in this session or is under way.
   */
  begin(params: InvokeParams): Machine {
    if (this.#base.state !== State.Prepared) this.#base.beginInvocation(params);
    if (this.#active.has(params.invocation_id)) {
      throw new ProtocolError(
        ErrorClass.InvalidRequest,
        `Invocation id ${params.invocation_id} is under way already`,
      );
    }
    if (this.#active.size >= this.#room) this.#requireIdle("driver.invoke");
    this.#used.checkRoom(this.#active.size);
    const machine = new Machine(this.#used);
    machine.acceptHello();
    machine.acceptPrepare();
    machine.beginInvocation(params);
    this.#active.set(params.invocation_id, machine);
    return machine;
  }

  /** The machine of an invocation under way. */
  of(invocationId: string): Machine | undefined {
    return this.#active.get(invocationId);
  }

  /** The machine of an invocation has left INVOKING. */
  end(invocationId: string): void {
    this.#active.delete(invocationId);
  }

  #requireIdle(operation: string): void {
    if (this.#active.size === 0) return;
    throw new ProtocolError(
      ErrorClass.InvalidState,
      `${operation} is not allowed while ${this.#active.size === 1 ? "an invocation is" : `${this.#active.size} invocations are`} under way`,
      { data: { state: State.Invoking } },
    );
  }
}
