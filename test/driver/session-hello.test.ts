import { describe, expect, test } from "vitest";
import { errorClassOf, selectVersion, State } from "../../lib/driver/mod.ts";
import type { SluiceError } from "../../lib/errors.ts";
import { CAPABILITIES, errorOf, helloResult, IDENTITY, PLAN, VERSIONS } from "./support/frames.ts";
import { connected, failureOf, open, settle, settled } from "./support/session.ts";

test("connectDriver() gives a driver in HELLO with what the hello said", async () => {
  const states: State[] = [];
  const { driver } = await connected({ onState: (state) => states.push(state) });
  expect(driver).toMatchObject({
    state: State.Hello,
    identity: IDENTITY,
    capabilities: CAPABILITIES,
    version: "1.0.0",
    requestedPermissions: ["net", "disk"],
    permissions: [],
    pid: undefined,
  });
  expect(states).toEqual([State.New, State.Hello]);
});

const range = (minimum: string, maximum: string = minimum) => ({ minimum, maximum });

describe("selectVersion() takes the smaller maximum that is not below the larger minimum", () => {
  test.each([
    [range("1.0.0"), range("1.0.0"), "1.0.0"],
    [range("1.0", "1.9"), range("1.2", "3"), "1.9"],
    [range("1.2", "3"), range("1.0", "1.9"), "1.9"],
    [range("1"), range("1.0.0.0"), "1"],
    [range("1.9"), range("1.10"), undefined],
    [range("1.2", "1.10"), range("1.9", "2"), "1.10"],
    [range("1", "2"), range("3", "4"), undefined],
    [range("2", "1"), range("1", "2"), undefined],
    [range("1", "2"), range("2", "1"), undefined],
    [range("2147483647"), range("2147483647"), "2147483647"],
    [range("2147483648"), range("2147483648"), "2147483648"],
    [range("1", "2147483648"), range("1", "2"), undefined],
    [range("1.0.0.0.0", "2"), range("1.0.0.0.0"), undefined],
    [range("draft-7"), range("draft-7"), "draft-7"],
    [range("draft-7"), range("draft-8"), undefined],
    [range("draft-7", "1"), range("1"), undefined],
    [range(" 1"), range("1"), undefined],
    [range("v1"), range("1"), undefined],
  ])("%o and %o: %s", (own, theirs, selected) => {
    expect(selectVersion(own, theirs)).toBe(selected);
  });
});

describe("connectDriver() ends a session", () => {
  test.each<[string, object, string]>([
    [
      "without a common version",
      { driver_version_range: range("2.0.0") },
      "unsupported_rpc_version",
    ],
    ["of a reversed range", { driver_version_range: range("2", "1") }, "unsupported_rpc_version"],
    ["with a blank permission", { requested_permissions: ["net", " "] }, "permission_denied"],
    ["with a repeated permission", { requested_permissions: ["net", "net"] }, "permission_denied"],
  ])("%s", async (_, hello, errorClass) => {
    const { starting, other } = open();
    await other.answer("driver.hello", helloResult(hello));
    expect(await failureOf(starting)).toMatchObject({ class: errorClass });
    // The driver's input is over.
    expect(await other.hear().catch(() => undefined)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["an empty object", {}],
    ["an unknown member", helloResult({ extra: 1 })],
    [
      "capabilities without a flag",
      helloResult({ capabilities: { ...CAPABILITIES, streaming: undefined } }),
    ],
    ["an identity with a blank name", helloResult({ identity: { ...IDENTITY, name: " " } })],
    ["an SDK without a version", helloResult({ identity: { ...IDENTITY, sdk_name: "kit" } })],
  ])("whose hello result has %s, as a fault of the driver's", async (_, result) => {
    const { starting, other } = open();
    await other.answer("driver.hello", result);
    expect(await failureOf(starting)).toMatchObject({
      code: "protocol_fault",
      class: "invalid_request",
    });
  });

  test("that refuses the hello, with the refusal's class", async () => {
    const { starting, other } = open();
    const { id } = await other.expect("driver.hello");
    void other.say({ id, error: errorOf("unsupported_rpc_version", "too old") });
    const error = await failureOf(starting);
    expect(error).toMatchObject({
      class: "unsupported_rpc_version",
      data: { method: "driver.hello" },
    });
    expect(error.message).toContain("too old");
  });

  test("with another identity than expected, naming the member", async () => {
    const { starting, other } = open({ expectIdentity: { name: "scripted", version: "9" } });
    await other.answer("driver.hello", helloResult());
    expect(await failureOf(starting)).toMatchObject({
      class: "artifact_mismatch",
      data: { member: "version" },
    });
  });

  test("of another version although its identity differs too, with unsupported_rpc_version", async () => {
    const { starting, other } = open({ expectIdentity: { version: "9" } });
    await other.answer("driver.hello", helloResult({ driver_version_range: range("7") }));
    expect(await failureOf(starting)).toMatchObject({ class: "unsupported_rpc_version" });
  });

  test("that does not answer within startTimeout", async () => {
    const ends: SluiceError[] = [];
    const { starting, other, clock } = open({
      startTimeout: 500,
      onEnd: (reason) => ends.push(reason),
    });
    await other.expect("driver.hello");
    clock.advance(499);
    expect(await settled(starting)).toBe(false);
    clock.advance(1);
    expect(await failureOf(starting)).toMatchObject({
      code: "start_timeout",
      data: { timeout: 500 },
    });
    expect(ends).toMatchObject([{ code: "start_timeout" }]);
  });

  test("that ends before its hello", async () => {
    const { starting, other } = open();
    await other.hangUp();
    expect(await failureOf(starting)).toMatchObject({ code: "connection_closed" });
  });

  test("that breaks before its hello, with the cause", async () => {
    const { starting, other } = open();
    const cause = new Error("wire cut");
    await other.breakDown(cause);
    expect(await failureOf(starting)).toMatchObject({ code: "connection_closed", cause });
  });

  test("that asks before it answers", async () => {
    const { starting, other } = open();
    void other.say({ id: 1, method: "driver.reset" });
    expect(errorClassOf(await failureOf(starting))).toBe("invalid_request");
  });

  test("that observes before it is prepared", async () => {
    const { starting, other } = open();
    void other.say({
      method: "driver.observation",
      params: {
        invocation_id: "0190a1b2-c3d4-7000-8000-000000000001",
        attempt_id: "0190a1b2-c3d4-7000-8000-000000000001",
        sequence: 1,
        kind: "k",
        monotonic_ns: 0,
      },
    });
    expect(await failureOf(starting)).toMatchObject({
      code: "protocol_fault",
      class: "malformed_observation",
    });
  });
});

test("connectDriver() sends its versions and takes what selectVersion says", async () => {
  const asked: unknown[] = [];
  const { starting, other } = open({
    versions: range("3", "5"),
    selectVersion: (own, theirs) => {
      asked.push(own, theirs);
      return "4-special";
    },
  });
  const hello = await other.answer(
    "driver.hello",
    helloResult({ driver_version_range: range("x", "y") }),
  );
  expect(hello.params).toEqual({ core_version_range: range("3", "5") });
  expect((await starting).version).toBe("4-special");
  expect(asked).toEqual([range("3", "5"), range("x", "y")]);
});

test("connectDriver() refuses when selectVersion finds none", async () => {
  const { starting, other } = open({ selectVersion: () => undefined });
  await other.answer("driver.hello", helloResult());
  expect(await failureOf(starting)).toMatchObject({
    class: "unsupported_rpc_version",
    data: { theirs: VERSIONS },
  });
});

test("connectDriver() accepts lists that are null or missing as empty", async () => {
  const { starting, other } = open();
  const { protocols: _, ...capabilities } = CAPABILITIES;
  await other.answer(
    "driver.hello",
    helloResult({
      requested_permissions: null,
      capabilities: { ...capabilities, operations: null },
    }),
  );
  const driver = await starting;
  expect(driver.requestedPermissions).toEqual([]);
  expect(driver.capabilities).toMatchObject({ protocols: [], operations: [] });
});

test("connectDriver() rejects with RangeError for a limit out of range", async () => {
  const error = await failureOf(open({ invokeQueue: 0 }).starting);
  expect(error).toBeInstanceOf(RangeError);
});

test("what a callback throws does not touch the session", async () => {
  const boom = (): never => {
    throw new Error("callback bug");
  };
  const { driver, other } = await connected({
    onState: boom,
    onEnd: boom,
    onNoise: boom,
    noise: "stderr",
  });
  void other.raw("noise\n");
  await settle();
  expect(driver.state).toBe(State.Hello);
  await other.hangUp();
  expect((await driver.ended).reason.code).toBe("connection_closed");
  expect(await failureOf(driver.prepare(PLAN))).toMatchObject({ code: "connection_closed" });
});
