import { expect, onTestFinished } from "vitest";
import { connectDriver, serveControl } from "../../../lib/driver/mod.ts";
import type { Driver, DriverOptions, Run, ServeOptions } from "../../../lib/driver/mod.ts";
import { COMPANION_PROTOCOL, type StreamIds } from "../../../lib/driver/companion/mod.ts";
import { HostedDriver } from "../../../lib/driver/session/hosted-driver.ts";
import type { CompanionPolicy } from "../../../lib/driver/session/companion-plane.ts";
import type { OfferInput } from "../../../lib/driver/session/input-offer.ts";
import { SUMMARY_PROTOCOL } from "../../../lib/driver/summary.ts";
import { duplexPair, type DuplexPairOptions } from "../../../lib/streams/duplex-pair.ts";
import { VirtualClock } from "../../../lib/testing/virtual-clock.ts";
import { hello, ScriptedEnd } from "../companion/support/scripted-end.ts";
import { CAPABILITIES, helloResult, IDENTITY, type Ids, observation, PLAN } from "./frames.ts";
import { ScriptedDriver, type Session, settle, settled } from "./session.ts";

/** A host and a driver of this kit with a companion channel between them, in virtual time. */
export interface Pair {
  readonly driver: Driver;
  readonly clock: VirtualClock;
  /** The driver's side. */
  readonly served: Promise<void>;
}

/** Serves a driver and connects to it; the test must leave no timer behind. */
export async function pair(
  serve: Partial<ServeOptions> & Pick<ServeOptions, "invoke">,
  options: DriverOptions = {},
  { companion = true, ...pipes }: DuplexPairOptions & { readonly companion?: boolean } = {},
): Promise<Pair> {
  const clock = new VirtualClock();
  const [control, servedControl] = duplexPair(pipes);
  const [channel, servedChannel] = duplexPair(pipes);
  const served = serveControl(servedControl, {
    identity: IDENTITY,
    clock,
    onError: () => {},
    ...(companion && { companion: { duplex: servedChannel } }),
    ...serve,
  });
  served.catch(() => {});
  const driver = await connectDriver(control, { clock, companion: channel, ...options });
  await driver.prepare(PLAN);
  onTestFinished(async () => {
    const closing = driver.close();
    for (let step = 0; step < 40 && !(await settled(closing)); step += 1) clock.advance(500);
    expect(await settled(closing)).toBe(true);
    for (let step = 0; step < 10 && !(await settled(served)); step += 1) clock.advance(500);
    expect(await settled(served)).toBe(true);
    expect(clock.pending).toBe(0);
  });
  return { driver, clock, served };
}

/** A session whose driver is played frame by frame on both planes. */
export interface Scripted extends Session {
  readonly data: ScriptedEnd;
}

export interface ScriptOptions extends DriverOptions {
  readonly offerInput?: OfferInput;
  readonly policy?: CompanionPolicy;
  readonly token?: string;
  readonly capabilities?: object;
  /** What the driver says on the companion channel first. Default: a hello with credit. */
  readonly hello?: Parameters<typeof hello>[0] | null;
}

/** What a session is made of before it has started. */
export interface ScriptOpening {
  readonly starting: Promise<Driver>;
  readonly other: ScriptedDriver;
  readonly data: ScriptedEnd;
  readonly clock: VirtualClock;
}

/** Starts a session with a companion channel; when the test ends it must leave no timer behind. */
export function opening({
  policy = "auto",
  token,
  offerInput,
  ...options
}: ScriptOptions = {}): ScriptOpening {
  const clock = new VirtualClock();
  const [control, theirs] = duplexPair();
  const [channel, theirChannel] = duplexPair();
  const other = new ScriptedDriver(theirs);
  const data = new ScriptedEnd(theirChannel);
  const starting = HostedDriver.start(
    control,
    { clock, ...options },
    { policy, offer: { channel, token, withdraw: () => {} }, offerInput },
  );
  starting.catch(() => {});
  onTestFinished(async () => {
    await data.end();
    await other.hangUp();
    await other.refuseInput();
    await settle();
    const driver = await starting.catch(() => undefined);
    expect(driver === undefined || (await settled(driver.ended))).toBe(true);
    await settle();
    expect(clock.pending).toBe(0);
  });
  return { starting, other, data, clock };
}

/** Starts a session up to its prepare. */
export async function scripted(options: ScriptOptions = {}): Promise<Scripted> {
  const { capabilities, hello: terms, ...rest } = options;
  const { starting, other, data, clock } = opening(rest);
  if (terms !== null) await data.send(hello(terms));
  await other.answer("driver.hello", helloResult({ capabilities: capable(capabilities) }));
  const driver = await starting;
  const preparing = driver.prepare(PLAN);
  await other.answer("driver.prepare", { accepted_permissions: [] });
  await preparing;
  await data.take();
  return { driver, other, data, clock };
}

/** Capabilities that list the companion channel. */
export function capable(more: object = {}): object {
  return { ...CAPABILITIES, protocols: [COMPANION_PROTOCOL], ...more };
}

/** Lists the companion channel and the rule of the summary. */
export const SUMMED = { protocols: [COMPANION_PROTOCOL, SUMMARY_PROTOCOL] };

/** An observation whose data is the stream of this id. */
export function announced(ids: Ids, sequence: number, streamId: string): object {
  return observation(ids, sequence, { data_stream: { stream_id: streamId } });
}

/** Names a stream of an invocation. */
export function streamOf({ invocation_id, attempt_id }: Ids, stream_id: string): StreamIds {
  return { invocation_id, attempt_id, stream_id };
}

/** Reads bytes to their end. */
export async function bytesOf(
  readable: AsyncIterable<Uint8Array> | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readable ?? []) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

/** Reads text to its end. */
export async function textOf(readable: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  return new TextDecoder().decode(await bytesOf(readable));
}

/** Reads all of a run: `kind`, or the text of its data. */
export async function all(run: Run): Promise<string[]> {
  const seen: string[] = [];
  for await (const { kind, data } of run) seen.push(data === undefined ? kind : await textOf(data));
  return seen;
}

/** Bytes that tell their place. */
export function pattern(length: number, seed = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 0xff);
}

/** Waits for a promise while time moves on in steps, up to a bound. */
export async function within<T>(
  clock: VirtualClock,
  promise: Promise<T>,
  { most, step = 100 }: { readonly most: number; readonly step?: number },
): Promise<T> {
  promise.catch(() => {});
  for (let at = 0; at <= most && !(await settled(promise)); at += step) clock.advance(step);
  expect(await settled(promise)).toBe(true);
  return await promise;
}
