import { type Clock, systemClock } from "../../clock.ts";
import { isSluiceError, SluiceError } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import { resolveLimits } from "../../limits.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import { Peer } from "../../rpc/peer.ts";
import type { Respond } from "../../rpc/peer-options.ts";
import { ignore } from "../../rpc/promises.ts";
import type { ByteDuplex } from "../../streams/duplex.ts";
import { COMPANION_PROTOCOL, CompanionDriver } from "../companion/mod.ts";
import { CheckedMessage } from "../codec/checked-message.ts";
import { driverCodec } from "../codec/driver-codec.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { ErrorClass } from "../contract/error-class.ts";
import type { HelloParams, HelloResult } from "../contract/hello.ts";
import type { CancelParams } from "../contract/cancel.ts";
import type { InvokeParams } from "../contract/invoke.ts";
import { Method } from "../contract/method.ts";
import type { ObservationParams } from "../contract/observation.ts";
import type { PrepareParams } from "../contract/prepare.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { Lifecycle } from "../lifecycle.ts";
import { State } from "../machine.ts";
import { checkPermissions } from "../permissions.ts";
import { SUMMARY_PROTOCOL } from "../summary.ts";
import { tell } from "../tell.ts";
import { agreeVersion } from "../versions.ts";
import type { ServeOptions } from "./serve-options.ts";
import { ServedInvocation } from "./served-invocation.ts";
import { wireError } from "./wire-error.ts";

const OWN_VERSIONS = { minimum: "1.0.0", maximum: "1.0.0" };

/** The driver's end of one session: answers the host's requests in order, and runs what it invokes. */
export class ServedSession {
  /** Resolves when the session is over: undefined after a shutdown or the host's end of input, else the reason. */
  readonly ended: Promise<SluiceError | undefined>;
  readonly #options: ServeOptions;
  readonly #peer: Peer;
  readonly #lifecycle: Lifecycle;
  readonly #companion: CompanionDriver | undefined;
  readonly #clock: Clock;
  readonly #handlerGrace: number;
  #permissions: readonly string[] = [];
  readonly #active: Map<string, ServedInvocation> = new Map();
  readonly #running: Set<Promise<void>> = new Set();
  #turn: Promise<void> = Promise.resolve();
  #shutdown = false;

  constructor(control: ByteDuplex, options: ServeOptions) {
    const limits = resolveLimits(options);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#handlerGrace = limits.handlerGrace;
    this.#lifecycle = new Lifecycle(limits.usedIds, this.#room);
    const { companion, sha256 } = options;
    this.#companion =
      companion &&
      new CompanionDriver(companion.duplex, { ...options, token: companion.token, sha256 });
    this.#companion?.ready.catch(ignore);
    this.#peer = new Peer(control, {
      codec: driverCodec,
      clock: this.#clock,
      inFlight: limits.inFlight,
      writeQueueBytes: limits.writeQueueBytes,
      errorObject: wireError,
      // A fault of the host's ends the peer as it is; a channel that takes no more bytes is ended here.
      fault: (fault) => {
        if (!(fault instanceof ProtocolError)) this.#peer.end(fault);
      },
      observe: (message, direction) => this.#observe(message, direction),
      onNotification: (message) => {
        throw new ProtocolError(
          ErrorClass.InvalidRequest,
          `${message.method} is not a host's to send`,
        );
      },
      onRequest: (message, respond) => this.#enqueue(message, respond),
    });
    this.ended = this.#end();
  }

  async #end(): Promise<SluiceError | undefined> {
    const reason = await this.#peer.closed;
    for (const invocation of this.#active.values())
      invocation.abort(
        reason ?? new SluiceError("session_closed", "The host has ended the session"),
      );
    await this.#within(Promise.all(this.#running));
    if (this.#companion !== undefined) await this.#within(this.#companion.close());
    const clean =
      reason === undefined ||
      this.#shutdown ||
      (isSluiceError(reason, "connection_closed") && reason.cause === undefined);
    return clean ? undefined : reason;
  }

  /** Neither a handler that does not heed its signal nor a host that does not read is waited for longer than the grace. */
  async #within(done: Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#clock.setTimer(late.resolve, this.#handlerGrace, { keepAlive: true });
    await Promise.race([done, late.promise]);
    timer.cancel();
  }

  #observe(message: RpcMessage, direction: "in" | "out"): void {
    if (direction === "in" || message.method === undefined) return;
    const params = CheckedMessage.recordOf(message as CheckedMessage) as ObservationParams;
    const { invocation_id: id } = params;
    this.#lifecycle.of(id)?.apply(message as CheckedMessage);
    if (message.method === Method.Observation) this.#active.get(id)?.sent(params);
    else if (message.method === Method.Completed) this.#lifecycle.end(id);
  }

  /** Requests are dealt with one after the other, so that each sees the state that its predecessor left. */
  #enqueue(message: RpcMessage, respond: Respond): void {
    this.#turn = this.#turn.then(() => this.#serve(message as CheckedMessage, respond));
  }

  async #serve(message: CheckedMessage, respond: Respond): Promise<void> {
    const params = CheckedMessage.recordOf(message);
    try {
      await this.#handle(
        message.method!,
        params,
        async (result) => await respond({ result: result as JsonValue }),
      );
    } catch (error) {
      if (!(error instanceof ProtocolError)) tell(this.#options.onError, error);
      // An answer that cannot be written ends the session, which says so itself.
      await respond({ error: wireError(error) }).catch(() => {});
    }
  }

  async #handle(
    method: Method,
    params: unknown,
    answer: (result: object) => Promise<void>,
  ): Promise<void> {
    switch (method) {
      case Method.Hello:
        return await this.#hello(params as HelloParams, answer);
      case Method.Prepare:
        return await this.#prepare(params as PrepareParams, answer);
      case Method.Capabilities:
        this.#lifecycle.checkCapabilities();
        return await answer({ capabilities: this.#capabilities });
      case Method.Invoke:
        return await this.#invoke(params as InvokeParams, answer);
      case Method.Cancel:
        return await this.#cancel(params as CancelParams, answer);
      case Method.Reset:
        this.#lifecycle.reset();
        await this.#options.reset?.();
        return await answer({});
      case Method.Shutdown:
        return await this.#stop(answer);
      default:
        throw new ProtocolError(ErrorClass.InvalidRequest, `${method} is no request`);
    }
  }

  get #capabilities(): Capabilities {
    const own = this.#options.capabilities ?? {};
    return {
      operations: [],
      streaming: true,
      cancellation: true,
      retry_observed: false,
      concurrency: false,
      max_concurrency: 1,
      ...own,
      protocols: [...new Set([...(own.protocols ?? []), ...this.#protocols])],
    };
  }

  get #protocols(): readonly string[] {
    return this.#companion === undefined
      ? [SUMMARY_PROTOCOL]
      : [SUMMARY_PROTOCOL, COMPANION_PROTOCOL];
  }

  /** How many invocations are run at a time. */
  get #room(): number {
    const { concurrency = false, max_concurrency: most = 1 } = this.#options.capabilities ?? {};
    return concurrency ? Math.max(1, most) : 1;
  }

  async #hello(
    { core_version_range: theirs }: HelloParams,
    answer: (result: object) => Promise<void>,
  ): Promise<void> {
    const { versions = OWN_VERSIONS, selectVersion, identity, permissions = [] } = this.#options;
    if (this.#lifecycle.state !== State.New) return this.#lifecycle.acceptHello();
    agreeVersion(versions, theirs, selectVersion);
    const result: HelloResult = {
      driver_version_range: versions,
      identity,
      capabilities: this.#capabilities,
      requested_permissions: permissions,
    };
    await answer(result);
    this.#lifecycle.acceptHello();
  }

  async #prepare(plan: PrepareParams, answer: (result: object) => Promise<void>): Promise<void> {
    if (this.#lifecycle.state !== State.Hello) return this.#lifecycle.acceptPrepare();
    checkPermissions(
      plan.approved_permissions,
      this.#options.permissions ?? [],
      "Approved permissions",
    );
    const accepted = (await this.#options.prepare?.(plan)) ?? plan.approved_permissions;
    await answer({ accepted_permissions: accepted });
    this.#permissions = accepted;
    this.#lifecycle.acceptPrepare();
  }

  async #invoke(params: InvokeParams, answer: (result: object) => Promise<void>): Promise<void> {
    const machine = this.#lifecycle.begin(params);
    const { operations } = this.#capabilities;
    if (operations.length > 0 && !operations.includes(params.operation)) {
      machine.rejectInvocation(params.invocation_id);
      this.#lifecycle.end(params.invocation_id);
      throw new ProtocolError(
        ErrorClass.CapabilityMismatch,
        `Operation ${JSON.stringify(params.operation.slice(0, 100))} is not offered`,
      );
    }
    const invocation = new ServedInvocation(params, {
      peer: this.#peer,
      clock: this.#clock,
      options: this.#options,
      permissions: this.#permissions,
      companion: this.#companion,
    });
    this.#active.set(params.invocation_id, invocation);
    await answer({});
    const running = invocation.run().then(() => {
      this.#active.delete(params.invocation_id);
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  async #cancel(params: CancelParams, answer: (result: object) => Promise<void>): Promise<void> {
    const machine = this.#lifecycle.of(params.invocation_id);
    if (machine === undefined) throw notUnderWay(params.invocation_id, this.#lifecycle.state);
    machine.requestCancel(params);
    // Queued before the handler hears of it, so that it comes before what the handler then sends.
    const answered = answer({ acknowledged: true });
    this.#active
      .get(params.invocation_id)
      ?.abort(
        new ProtocolError(
          ErrorClass.InvalidRequest,
          `The host cancelled the invocation: ${params.reason}`,
          { code: "cancelled" },
        ),
      );
    await answered;
  }

  async #stop(answer: (result: object) => Promise<void>): Promise<void> {
    this.#lifecycle.shutdown();
    await this.#options.shutdown?.();
    this.#shutdown = true;
    await answer({});
    await this.#peer.close();
  }
}

function notUnderWay(invocationId: string, state: State): ProtocolError {
  return state === State.Invoking
    ? new ProtocolError(
        ErrorClass.InvalidRequest,
        `Cancel names invocation ${invocationId}, which is not under way`,
      )
    : new ProtocolError(
        ErrorClass.InvalidState,
        `driver.cancel is not allowed in state ${state}, only in ${State.Invoking}`,
      );
}
