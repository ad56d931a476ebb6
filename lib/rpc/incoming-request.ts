import type { SluiceError } from "../errors.ts";
import type { RpcId } from "./message.ts";
import type { MethodContext } from "./method.ts";

/** A request of the other side that has no answer yet. */
export class IncomingRequest implements MethodContext {
  readonly id: RpcId;
  readonly method: string;
  #controller: AbortController | undefined;
  #ended: SluiceError | undefined;

  constructor(id: RpcId, method: string) {
    this.id = id;
    this.method = method;
  }

  /** Made when asked for: most handlers never look at it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended);
    }
    return this.#controller.signal;
  }

  /** Tells the handler that nobody waits for its answer any more. */
  abort(reason: SluiceError): void {
    this.#ended ??= reason;
    this.#controller?.abort(reason);
  }
}
