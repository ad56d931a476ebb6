import { expect, onTestFinished } from "vitest";
import { serveControl } from "../../../lib/driver/mod.ts";
import type { ServeOptions } from "../../../lib/driver/mod.ts";
import type { RpcMessage } from "../../../lib/rpc/message.ts";
import { duplexPair, type DuplexPairOptions } from "../../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { IDENTITY, invokeParams, PREPARE, VERSIONS } from "./frames.ts";
import { ScriptedDriver, settle, settled } from "./session.ts";

/** A host that says what a test tells it to. */
export class ScriptedHost extends ScriptedDriver {
  #lastId = 0;

  /** Sends a request; returns its id. */
  ask(method: string, params?: object): number {
    this.#lastId += 1;
    void this.say({ id: this.#lastId, method, ...(params !== undefined && { params }) });
    return this.#lastId;
  }

  /** Sends a request and hears its answer, which must be the next frame. */
  async call(method: string, params?: object): Promise<RpcMessage> {
    const id = this.ask(method, params);
    const answer = await this.hear();
    expect(answer?.id).toBe(id);
    return answer!;
  }

  /** Goes through hello and prepare. */
  async prepare(permissions: readonly string[] = []): Promise<void> {
    await this.call("driver.hello", HELLO);
    await this.call("driver.prepare", { ...PREPARE, approved_permissions: permissions });
  }

  /** Invokes number `n` and hears that it was accepted. */
  async invoke(n = 1, more: object = {}): Promise<void> {
    expect(await this.call("driver.invoke", invokeParams(n, more))).toMatchObject({ result: {} });
  }

  /** Hears everything up to the next completion. */
  async toCompletion(): Promise<{ observations: Params[]; completed: Params }> {
    const observations: Params[] = [];
    for (;;) {
      const message = await this.hear();
      const params = message?.params as Params;
      if (message?.method === "driver.completed") return { observations, completed: params };
      expect(message?.method).toBe("driver.observation");
      observations.push(params);
    }
  }
}

type Params = Record<string, unknown>;

export const HELLO = { core_version_range: VERSIONS };

/** A driver that is being served, and the host that drives it. */
export interface Served {
  readonly host: ScriptedHost;
  readonly clock: VirtualClock;
  /** Resolves or rejects with the end of the session. */
  readonly ended: Promise<void>;
}

/** Serves a driver in virtual time; when the test ends no timer may be left. */
export function served(
  options: Partial<ServeOptions> & Pick<ServeOptions, "invoke">,
  pair: DuplexPairOptions = {},
): Served {
  const clock = new VirtualClock();
  const [mine, theirs] = duplexPair(pair);
  const ended = serveControl(mine, { identity: IDENTITY, clock, ...options });
  ended.catch(() => {});
  const host = new ScriptedHost(theirs);
  onTestFinished(async () => {
    await host.hangUp();
    await host.refuseInput();
    await settle();
    clock.advance(10_000);
    expect(await settled(ended)).toBe(true);
    expect(clock.pending).toBe(0);
  });
  return { host, clock, ended };
}

/** A handler that tests hold in their hands. */
export function held<T>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}
