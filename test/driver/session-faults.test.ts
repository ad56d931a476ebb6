import { describe, expect, test } from "vitest";
import { ProtocolFault } from "../../lib/driver/mod.ts";
import { Summary } from "../../lib/driver/summary.ts";
import type { SluiceError } from "../../lib/errors.ts";
import { completed, instanceId, observation } from "./support/frames.ts";
import {
  connected,
  failureOf,
  invoked,
  prepared,
  sequences,
  settle,
  settled,
} from "./support/session.ts";
import type { Ids } from "./support/frames.ts";

const STRANGER: Ids = { invocation_id: instanceId(0xdead), attempt_id: instanceId(0xbeef) };

/** What a driver may do wrong, given the ids of the invocation under way and the id of its request. */
type Misdeed = (ids: Ids, id: unknown) => readonly (object | string)[];

const MISDEEDS: readonly (readonly [string, Misdeed, string])[] = [
  [
    "an observation of an unknown invocation",
    () => [observation(STRANGER, 1)],
    "malformed_observation",
  ],
  ["the completion of an unknown invocation", () => [completed(STRANGER)], "malformed_observation"],
  [
    "an observation of another attempt",
    (ids) => [observation({ ...ids, attempt_id: STRANGER.attempt_id }, 1)],
    "malformed_observation",
  ],
  [
    "the completion of another attempt",
    (ids) => [completed({ ...ids, attempt_id: STRANGER.attempt_id })],
    "malformed_observation",
  ],
  [
    "a sequence twice",
    (ids) => [observation(ids, 4), observation(ids, 4)],
    "malformed_observation",
  ],
  [
    "a falling sequence",
    (ids) => [observation(ids, 4), observation(ids, 3)],
    "malformed_observation",
  ],
  [
    "a wrong last sequence",
    (ids) => [observation(ids, 4), completed(ids, 5)],
    "malformed_observation",
  ],
  [
    "no last sequence after observations",
    (ids) => [observation(ids, 4), completed(ids)],
    "malformed_observation",
  ],
  ["a last sequence without observations", (ids) => [completed(ids, 0)], "malformed_observation"],
  ["a request", () => [{ id: 1, method: "driver.reset" }], "invalid_request"],
  [
    "an answer twice",
    (_, id) => [
      { id, result: {} },
      { id, result: {} },
    ],
    "invalid_request",
  ],
  ["an answer to nothing", () => [{ id: 999, result: {} }], "invalid_request"],
  [
    "an answer whose id is of another type",
    (_, id) => [{ id: String(id), result: {} }],
    "invalid_request",
  ],
  [
    "an error without an id",
    () => [{ id: null, error: { code: 1, message: "m", data: { class: "driver_internal" } } }],
    "invalid_request",
  ],
  ["a syntax error", () => ["{nonsense\n"], "invalid_request"],
  ["a member twice", () => ['{"jsonrpc":"2.0","jsonrpc":"2.0"}\n'], "invalid_request"],
  ["a wrong version", () => ['{"jsonrpc":"1.0","id":1,"result":1}\n'], "unsupported_rpc_version"],
  ["blanks before a bad frame", () => ['  \t{"jsonrpc"\n'], "invalid_request"],
  ["an unknown method", () => [{ method: "driver.nothing", id: 1 }], "invalid_request"],
  [
    "an observation without a kind",
    (ids) => [observation(ids, 1, { kind: "" })],
    "malformed_observation",
  ],
  [
    "an observation with an unknown member",
    (ids) => [observation(ids, 1, { extra: 1 })],
    "malformed_observation",
  ],
  [
    "an over-long frame",
    () => [`{"jsonrpc":"2.0","pad":"${"x".repeat(2 ** 20)}"}\n`],
    "budget_exceeded",
  ],
];

describe("the session ends with ProtocolFault, and what was good before it arrives, when the driver sends", () => {
  test.each(MISDEEDS)("%s", async (_, misdeed, errorClass) => {
    const ends: SluiceError[] = [];
    // A later call must not wait for anything either.
    const session = await prepared({ onEnd: (reason) => ends.push(reason) });
    const { driver, other } = session;
    const { run, ids, id } = await invoked(session);
    const queued = driver.invoke("op");
    for (const frame of misdeed(ids, id)) {
      if (typeof frame === "string") void other.raw(frame);
      else void other.say(frame);
    }
    const { reason } = await driver.ended;
    expect(reason).toBeInstanceOf(ProtocolFault);
    expect(reason).toMatchObject({ code: "protocol_fault", class: errorClass });
    expect(ends).toEqual([reason]);
    expect(await failureOf(run.completed)).toBe(reason);
    expect(await failureOf(queued.completed)).toBe(reason);
    expect(await failureOf(driver.reset())).toBe(reason);
    expect(await failureOf(driver.invoke("op").completed)).toBe(reason);
    expect(await driver.close()).toEqual(await driver.ended);
  });
});

test("a fault shows the beginning of its line, at most 200 characters", async () => {
  const { driver, other } = await connected();
  void other.raw(`{"jsonrpc":"2.0",bad${"x".repeat(5000)}\n`);
  const { reason } = await driver.ended;
  expect(reason.message).toContain('{\\"jsonrpc\\":\\"2.0\\",bad');
  expect(reason.message.length).toBeLessThan(600);
});

test("what the driver sends after its fault is not looked at", async () => {
  const session = await prepared();
  const { run, ids } = await invoked(session);
  void session.other.say(
    observation(ids, 1),
    observation(STRANGER, 1),
    observation(ids, 2),
    completed(ids, 2),
  );
  const steps = run[Symbol.asyncIterator]();
  expect(await steps.next()).toMatchObject({ value: { sequence: 1 } });
  expect(await failureOf(steps.next())).toBeInstanceOf(ProtocolFault);
});

describe("a frame that the end of the input cut", () => {
  test("is not a fault of its own: the end is the reason, the cut its cause", async () => {
    const { driver, other } = await connected();
    void other.raw('{"jsonrpc":"2.0","meth');
    await other.hangUp();
    const { reason } = await driver.ended;
    expect(reason).toMatchObject({
      code: "connection_closed",
      cause: { code: "cut_control_frame" },
    });
  });

  test("counts when it is whole and only its line feed is missing", async () => {
    const session = await prepared();
    const { run, ids } = await invoked(session);
    void session.other.raw(JSON.stringify({ jsonrpc: "2.0", ...completed(ids) }));
    await session.other.hangUp();
    expect(await run.completed).toMatchObject({ status: "completed" });
  });

  test("is a fault when it is whole and breaks a rule", async () => {
    const { driver, other } = await connected();
    void other.raw('{"jsonrpc":"1.0","id":1,"result":1}');
    await other.hangUp();
    expect((await driver.ended).reason).toMatchObject({ class: "unsupported_rpc_version" });
  });
});

describe("noise on stdout", () => {
  const NOISE = [
    "hello",
    "",
    "[1]",
    "null",
    "\ufeff{}",
    "Traceback (most recent call last):",
    "\u00a0{",
    "é",
  ];

  test.each(NOISE)("%j ends the session by default, and the reason names it", async (line) => {
    const { driver, other } = await connected();
    void other.raw(`${line}\n`);
    const { reason } = await driver.ended;
    expect(reason).toMatchObject({
      code: "protocol_fault",
      class: "invalid_request",
      cause: { code: "stdout_noise" },
    });
    expect(reason.message).toContain(JSON.stringify(line));
    expect(driver.stats.noiseLines).toBe(1);
  });

  test("is counted and told with policy stderr, between frames as well", async () => {
    const told: string[] = [];
    const session = await prepared({ noise: "stderr", onNoise: (line) => told.push(line) });
    const { run, ids } = await invoked(session);
    void session.other.raw(NOISE.map((line) => `${line}\n`).join(""));
    session.other.observe(ids, 1);
    void session.other.raw(`${"long ".repeat(100)}\r\n`);
    session.other.complete(ids, 1);
    expect(await sequences(run)).toEqual([1]);
    expect(told).toEqual([...NOISE, "long ".repeat(40)]);
    expect(session.driver.stats.noiseLines).toBe(NOISE.length + 1);
  });

  test("in front of a frame on the same line takes that frame with it, and no more", async () => {
    const session = await prepared({ noise: "stderr" });
    const { run, ids } = await invoked(session);
    void session.other.raw("no line feed");
    session.other.observe(ids, 1);
    session.other.observe(ids, 2);
    session.other.complete(ids, 2);
    expect(await sequences(run)).toEqual([2]);
  });

  test("may be a line of any length with policy stderr", async () => {
    const { driver, other } = await connected({ noise: "stderr" });
    void other.raw(`${"x".repeat(3 * 2 ** 20)}\n`);
    expect(await settled(driver.ended)).toBe(false);
    expect(driver.stats.noiseLines).toBe(1);
  });

  test("is no excuse for a bad frame", async () => {
    const { driver, other } = await connected({ noise: "stderr" });
    void other.raw(`noise\n${" ".repeat(500)}{bad\n`);
    expect((await driver.ended).reason).toMatchObject({ code: "protocol_fault" });
    expect(driver.stats.noiseLines).toBe(1);
  });

  test("over noiseBytes ends the session", async () => {
    const { driver, other } = await connected({ noise: "stderr", noiseBytes: 100 });
    void other.raw("123456789\n".repeat(10));
    await settle();
    expect(await settled(driver.ended)).toBe(false);
    void other.raw("\n");
    expect((await driver.ended).reason).toMatchObject({ code: "noise_exceeded" });
  });
});

describe("the summary digest", () => {
  const protocols = ["sluice.summary.v1"];
  function digestOf(payload: unknown): string {
    const summary = new Summary();
    summary.observe({ kind: "k", sequence: 1, payload: payload as never });
    summary.observe({ kind: "k", sequence: 2 });
    return summary.digest();
  }

  test("is checked when the driver lists its rule: a match completes", async () => {
    const session = await prepared({}, { protocols });
    const { run, ids } = await invoked(session);
    void session.other.say(observation(ids, 1, { payload: { b: 1, a: "é" } }), observation(ids, 2));
    session.other.complete(ids, 2, { summary_digest: digestOf({ a: "é", b: 1 }) });
    expect(await run.completed).toMatchObject({ status: "completed" });
  });

  test.each<[string, object, boolean]>([
    ["ends the session when it differs", {}, false],
    ["is not looked at with verifySummary: false", { verifySummary: false }, true],
  ])("%s", async (_, options, fine) => {
    const session = await prepared(options, { protocols });
    const { run, ids } = await invoked(session);
    void session.other.say(observation(ids, 1, { payload: 2 }), observation(ids, 2));
    session.other.complete(ids, 2, { summary_digest: digestOf(1) });
    if (fine) expect(await run.completed).toMatchObject({ status: "completed" });
    else {
      expect(await failureOf(run.completed)).toMatchObject({
        code: "protocol_fault",
        class: "malformed_observation",
        cause: { code: "summary_mismatch" },
      });
    }
  });

  test("is opaque for a driver that does not list the rule", async () => {
    const session = await prepared();
    const { run, ids } = await invoked(session);
    session.other.observe(ids, 1);
    session.other.complete(ids, 1);
    expect(await run.completed).toMatchObject({ status: "completed" });
  });

  test("is checked over what a consumer did not see as well", async () => {
    const session = await prepared({}, { protocols, cancellation: true });
    const { run, ids } = await invoked(session);
    run.cancel();
    void session.other.say(observation(ids, 1, { payload: 5 }), observation(ids, 2));
    session.other.complete(ids, 2, { summary_digest: digestOf(5), status: "cancelled" });
    expect(await run.completed).toMatchObject({ status: "cancelled" });
  });
});

describe("the session ends with the end of the input", () => {
  test("in HELLO, PREPARED and INVOKING, and every call rejects with it", async () => {
    const hello = await connected();
    const preparing = hello.driver.prepare({
      planDigest: `sha256:${"0".repeat(64)}`,
      capabilityToken: "t",
    });
    await hello.other.expect("driver.prepare");
    await hello.other.hangUp();
    expect(await failureOf(preparing)).toMatchObject({ code: "connection_closed" });

    const idle = await prepared();
    const resetting = idle.driver.reset();
    const refreshing = idle.driver.refreshCapabilities();
    await idle.other.hangUp();
    for (const call of [resetting, refreshing])
      expect(await failureOf(call)).toMatchObject({ code: "connection_closed" });

    const busy = await prepared();
    const { run } = await invoked(busy);
    const queued = busy.driver.invoke("op");
    await busy.other.hangUp();
    for (const promise of [
      run.completed,
      run.accepted,
      sequences(run),
      queued.completed,
      queued.accepted,
    ])
      expect(await failureOf(promise)).toMatchObject({ code: "connection_closed" });
    expect(await busy.driver.ended).toMatchObject({ exit: undefined, rungs: [], stderr: "" });
  });

  test("of a driver that no longer takes input, when the host writes next", async () => {
    const { driver, other } = await prepared();
    await other.refuseInput();
    const resetting = driver.reset();
    expect(await failureOf(resetting)).toMatchObject({ code: "peer_closed" });
    expect((await driver.ended).reason).toMatchObject({ code: "peer_closed" });
  });
});
