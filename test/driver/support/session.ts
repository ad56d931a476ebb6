import { expect, onTestFinished } from "vitest";
import { connectDriver } from "../../../lib/driver/mod.ts";
import type {
  Driver,
  DriverOptions,
  InvokeOptions,
  PrepareOptions,
  Run,
} from "../../../lib/driver/mod.ts";
import type { RpcMessage } from "../../../lib/rpc/message.ts";
import type { ByteDuplex } from "../../../lib/streams/duplex.ts";
import { duplexPair, type DuplexPairOptions } from "../../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { settle } from "../../rpc/scripted-peer.ts";
import { CAPABILITIES, completed, helloResult, type Ids, observation, PLAN } from "./frames.ts";

export { failureOf, settle } from "../../rpc/scripted-peer.ts";

/** A driver that says what a test tells it to, and reads only when asked. */
export class ScriptedDriver {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor({ readable, writable }: ByteDuplex) {
    this.#writer = writable.getWriter();
    this.#reader = readable.getReader();
    this.#writer.closed.catch(() => {});
    this.#reader.closed.catch(() => {});
  }

  /** Sends text as one chunk; resolves when the host's side took it, or took no more. */
  async raw(text: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(text)).catch(() => {});
  }

  /** Sends messages as lines of one chunk. */
  async say(...messages: readonly object[]): Promise<void> {
    const lines = messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));
    await this.raw(lines.map((line) => `${line}\n`).join(""));
  }

  /** Reads the next message; undefined at the end. */
  async hear(): Promise<RpcMessage | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end !== -1) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return JSON.parse(line) as RpcMessage;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Closes its sending direction. */
  async hangUp(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  /** Breaks its sending direction. */
  async breakDown(reason: unknown): Promise<void> {
    await this.#writer.abort(reason).catch(() => {});
  }

  /** Says that it wants no more input. */
  async refuseInput(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }

  /** Hears a request of this method and answers it. */
  async answer(method: string, result: unknown): Promise<RpcMessage> {
    const request = await this.expect(method);
    void this.say({ id: request.id, result });
    return request;
  }

  /** Hears a request of this method. */
  async expect(method: string): Promise<RpcMessage> {
    const request = await this.hear();
    expect(request?.method).toBe(method);
    return request!;
  }

  /** Sends observations with these sequence numbers in one chunk. */
  observe(ids: Ids, ...numbers: readonly number[]): void {
    void this.say(...numbers.map((sequence) => observation(ids, sequence)));
  }

  /** Sends messages one a chunk, each when the one before was taken; `written` says how many were. */
  flood(messages: readonly object[]): {
    readonly done: Promise<void>;
    readonly written: () => number;
  } {
    let count = 0;
    const done = (async () => {
      for (const message of messages) {
        await this.say(message);
        count += 1;
      }
    })();
    return { done, written: () => count };
  }

  /** Ends an invocation. */
  complete(ids: Ids, last?: number, more: object = {}): void {
    void this.say(completed(ids, last, more));
  }
}

/** Both ends of a session, in virtual time. */
export interface Session {
  readonly driver: Driver;
  readonly other: ScriptedDriver;
  readonly clock: VirtualClock;
}

/** What a session is made of before its hello was answered. */
export interface Opening {
  readonly starting: Promise<Driver>;
  readonly other: ScriptedDriver;
  readonly clock: VirtualClock;
}

/** Starts a session; when the test ends it must leave no timer behind. */
export function open(options: DriverOptions = {}, pair: DuplexPairOptions = {}): Opening {
  const clock = new VirtualClock();
  const [mine, theirs] = duplexPair(pair);
  const other = new ScriptedDriver(theirs);
  const starting = connectDriver(mine, { clock, ...options });
  starting.catch(() => {});
  onTestFinished(async () => {
    await other.hangUp();
    await other.refuseInput();
    await settle();
    const driver = await starting.catch(() => undefined);
    expect(driver === undefined || (await settled(driver.ended))).toBe(true);
    expect(clock.pending).toBe(0);
  });
  return { starting, other, clock };
}

/** Starts a session up to its hello. */
export async function connected(options: DriverOptions = {}, hello: object = {}): Promise<Session> {
  const { starting, other, clock } = open(options);
  await other.answer("driver.hello", helloResult(hello));
  return { driver: await starting, other, clock };
}

/** Starts a session up to its prepare; the driver has these capabilities beside the usual ones. */
export async function prepared(
  options: DriverOptions & { readonly plan?: Partial<PrepareOptions> } = {},
  capabilities: object = {},
): Promise<Session> {
  const { plan, ...rest } = options;
  const session = await connected(rest, { capabilities: { ...CAPABILITIES, ...capabilities } });
  const preparing = session.driver.prepare({ ...PLAN, ...plan });
  await session.other.answer("driver.prepare", { accepted_permissions: plan?.permissions ?? [] });
  await preparing;
  return session;
}

/** An invocation that the driver has heard of. */
export interface Started {
  readonly run: Run;
  readonly id: RpcMessage["id"];
  readonly ids: Ids;
}

/** Invokes, and has the driver hear it. */
export async function invoked(
  { driver, other }: Session,
  options: InvokeOptions = {},
): Promise<Started> {
  const run = driver.invoke("op", options);
  return { run, ...(await heard(other)) };
}

/** Has the driver hear an invoke. */
export async function heard(other: ScriptedDriver): Promise<Omit<Started, "run">> {
  const request = await other.expect("driver.invoke");
  return { id: request.id, ids: request.params as unknown as Ids };
}

/** Whether a promise has settled by now. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  await settle();
  return done;
}

/** The sequence numbers that a loop over the run gets, to its end. */
export async function sequences(run: Run): Promise<number[]> {
  const seen: number[] = [];
  for await (const { sequence } of run) seen.push(sequence);
  return seen;
}

/** The numbers from `from` to `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, k) => from + k);
}
