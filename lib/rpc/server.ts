import { isSluiceError, SluiceError, toSluiceError } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import { checkEither } from "../schema/check-schema.ts";
import { rpcErrorObject } from "./error-object.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { responseOf } from "./message-of.ts";
import type { RpcErrorObject, RpcId, RpcMessage } from "./message.ts";
import type { Method } from "./method.ts";
import type { Outlet } from "./outlet.ts";
import type { PeerOptions, Respond, RpcOutcome } from "./peer-options.ts";
import { ignore, isThenable, rejected } from "./promises.ts";

/** What a {@link Server} stands on. */
export interface ServerOptions<M extends RpcMessage> {
  readonly outlet: Outlet<M>;
  readonly methods: PeerOptions<M>["methods"];
  readonly onRequest: PeerOptions<M>["onRequest"];
  readonly errorObject: PeerOptions<M>["errorObject"];
  /** Most requests without an answer; more are refused. */
  readonly inFlight: number;
  readonly fault: (fault: SluiceError) => void;
}

/** Most characters of a method's name in a message. */
const MAX_METHOD = 64;

/** The serving half of a peer: answers each request of the other side once, at most `inFlight` at a time. */
export class Server<M extends RpcMessage> {
  readonly #options: ServerOptions<M>;
  readonly #methods: ReadonlyMap<string, Method>;
  readonly #open = new Map<RpcId, IncomingRequest>();
  #ended = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: ServerOptions<M>) {
    this.#options = options;
    this.#methods = new Map(Object.entries<Method>(options.methods ?? {}));
  }

  /** Takes a request in; its handler has started when this returns, unless its schema is asynchronous. */
  accept(message: M, id: RpcId): void {
    const request = new IncomingRequest(id, message.method ?? "");
    if (this.#open.has(id)) {
      this.#options.fault(duplicateId(request));
    } else if (this.#open.size >= this.#options.inFlight) {
      this.#fail(request, refusal("too_many_requests", "Too many requests in flight"));
    } else {
      this.#open.set(id, request);
      if (this.#options.onRequest !== undefined) this.#delegate(request, message);
      else this.#serve(request, message.params);
    }
  }

  /** Takes a request off the list, because its answer was sent. */
  release(id: RpcId): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#whenIdle?.();
  }

  /** Resolves when every request has its answer. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  /** Aborts the handlers; what they answer is dropped. */
  end(reason: SluiceError): void {
    this.#ended = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const request of open) request.abort(reason);
    this.#whenIdle?.();
  }

  #delegate(request: IncomingRequest, message: M): void {
    let answered = false;
    const respond: Respond = (outcome) => {
      if (answered)
        return rejected(new TypeError("A request takes one answer; respond() was called again"));
      try {
        const written = this.#options.outlet.post(responseOf(request.id, outcome) as M);
        answered = true;
        this.release(request.id);
        return written;
      } catch (thrown) {
        return rejected(thrown);
      }
    };
    const failed = (thrown: unknown): void => {
      if (answered) this.#options.fault(lateThrow(request, thrown));
      else this.#fail(request, thrown);
      answered = true;
    };
    try {
      const returned: unknown = this.#options.onRequest?.(message, respond);
      if (isThenable(returned)) returned.then(undefined, failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #serve(request: IncomingRequest, params: JsonValue | undefined): void {
    const method = this.#methods.get(request.method);
    if (method === undefined) {
      const text = `Method not found: ${request.method.slice(0, MAX_METHOD)}`;
      this.#fail(request, refusal("method_not_found", text));
      return;
    }
    try {
      const checked = method.params === undefined ? params : checkEither(method.params, params);
      if (!isThenable(checked)) void this.#run(request, method, checked);
      else {
        checked.then(
          (value) => this.#run(request, method, value),
          (thrown: unknown) => this.#fail(request, paramsRefusal(thrown)),
        );
      }
    } catch (thrown) {
      this.#fail(request, paramsRefusal(thrown));
    }
  }

  async #run(request: IncomingRequest, method: Method, params: unknown): Promise<void> {
    if (this.#ended) return;
    try {
      const result = await method.handler(params, request);
      this.#answer(request, { result: (result ?? null) as JsonValue });
    } catch (thrown) {
      this.#fail(request, thrown);
    }
  }

  #fail(request: IncomingRequest, thrown: unknown): void {
    let error: RpcErrorObject;
    try {
      error = (this.#options.errorObject ?? rpcErrorObject)(thrown);
    } catch (broken) {
      error = rpcErrorObject(broken);
    }
    this.#answer(request, { error });
  }

  #answer(request: IncomingRequest, outcome: RpcOutcome): void {
    const { outlet, fault } = this.#options;
    if (!this.#ended && outlet.open) {
      try {
        const { message, frame } = this.#encode(request.id, outcome);
        outlet.admit(message, frame);
        outlet.write(frame).catch(ignore);
      } catch (thrown) {
        fault(
          toSluiceError(
            thrown,
            "answer_failed",
            `The answer to "${nameOf(request)}" could not be sent`,
          ),
        );
      }
    }
    if (this.#open.get(request.id) === request) this.release(request.id);
  }

  /** Encodes an answer; one that cannot be encoded gives way to an error, so that the id gets its answer. */
  #encode(id: RpcId, outcome: RpcOutcome): { message: M; frame: Uint8Array } {
    const { outlet, errorObject = rpcErrorObject } = this.#options;
    let failure: unknown;
    const attempts = [
      () => outcome,
      () => ({ error: errorObject(failure) }),
      () => ({ error: rpcErrorObject(failure) }),
    ];
    for (const attempt of attempts) {
      try {
        const message = responseOf(id, attempt()) as M;
        return { message, frame: outlet.encode(message) };
      } catch (thrown) {
        failure = thrown;
      }
    }
    throw failure;
  }
}

function nameOf(request: IncomingRequest): string {
  return request.method.slice(0, MAX_METHOD);
}

function refusal(code: string, message: string): SluiceError {
  return new SluiceError(code, message);
}

function paramsRefusal(thrown: unknown): unknown {
  if (!isSluiceError(thrown, "schema_mismatch")) return thrown;
  return new SluiceError("invalid_params", `Invalid params: ${thrown.message}`, {
    data: thrown.data,
    cause: thrown,
  });
}

function duplicateId(request: IncomingRequest): SluiceError {
  const message = `The peer sent a second request "${nameOf(request)}" with an id whose first one has no answer yet`;
  return new SluiceError("duplicate_request_id", message, { data: { method: nameOf(request) } });
}

function lateThrow(request: IncomingRequest, thrown: unknown): SluiceError {
  return toSluiceError(
    thrown,
    "handler_failed",
    `The handler of "${nameOf(request)}" failed after it had answered`,
  );
}
