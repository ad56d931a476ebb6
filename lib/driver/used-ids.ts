import { DEFAULT_LIMITS } from "../limits.ts";
import { ErrorClass } from "./contract/error-class.ts";
import { ProtocolError } from "./contract/protocol-error.ts";

/** The invocation ids that a session has used up; bounded. */
export class UsedIds {
  readonly #ids: Set<string> = new Set();
  readonly #limit: number;

  /** @param limit Most ids one session may use. */
  constructor(limit: number = DEFAULT_LIMITS.usedIds) {
    this.#limit = limit;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
  }

  /**
   * @param pending How many are under way that will be used up.
   * @throws {ProtocolError} `budget_exceeded` with code `session_exhausted` when no further id fits.
   */
  checkRoom(pending: number = 0): void {
    if (this.#ids.size + pending < this.#limit) return;
    throw new ProtocolError(
      ErrorClass.BudgetExceeded,
      `Session has used ${this.#limit} invocation ids: start a new session`,
      { code: "session_exhausted", data: { limit: this.#limit } },
    );
  }
}
