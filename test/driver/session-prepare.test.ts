import { describe, expect, test } from "vitest";
import { State } from "../../lib/driver/mod.ts";
import { CAPABILITIES, DIGEST, errorOf, PLAN } from "./support/frames.ts";
import { connected, failureOf, invoked, prepared, settled } from "./support/session.ts";

test("prepare() sends the plan and gives what the driver accepted", async () => {
  const { driver, other } = await connected();
  const ref = { kind: "Fixture", content_digest: DIGEST };
  const preparing = driver.prepare({ ...PLAN, permissions: ["net", "disk"], fixtureRefs: [ref] });
  const { params } = await other.answer("driver.prepare", { accepted_permissions: ["disk"] });
  expect(params).toEqual({
    resolved_plan_digest: DIGEST,
    capability_token: "token-token",
    approved_permissions: ["net", "disk"],
    fixture_refs: [ref],
  });
  expect(await preparing).toEqual(["disk"]);
  expect(driver.permissions).toEqual(["disk"]);
  expect(driver.state).toBe(State.Prepared);
});

describe("prepare() refuses before sending, and the session stays usable:", () => {
  test.each<[string, object, string]>([
    ["more than was requested", { permissions: ["net", "gpu"] }, "permission_denied"],
    ["a blank permission", { permissions: [""] }, "permission_denied"],
    ["a repeated permission", { permissions: ["net", "net"] }, "permission_denied"],
    ["a bad digest", { planDigest: "sha256:x" }, "invalid_request"],
    ["an empty token", { capabilityToken: "" }, "invalid_request"],
    ["a bad fixture", { fixtureRefs: [{ kind: "x", content_digest: DIGEST }] }, "invalid_request"],
  ])("%s", async (_, plan, errorClass) => {
    const { driver, other } = await connected();
    const sent = driver.stats.framesOut;
    expect(await failureOf(driver.prepare({ ...PLAN, ...plan }))).toMatchObject({
      class: errorClass,
    });
    expect(driver.stats.framesOut).toBe(sent);
    const preparing = driver.prepare(PLAN);
    await other.answer("driver.prepare", { accepted_permissions: null });
    expect(await preparing).toEqual([]);
  });

  test("a bad plan, also while another call is sent in the same step", async () => {
    const { driver, other } = await connected();
    const refused = driver.prepare({ ...PLAN, permissions: ["gpu"] });
    const refreshing = driver.refreshCapabilities();
    expect(await failureOf(refused)).toMatchObject({ class: "permission_denied" });
    await other.answer("driver.capabilities", { capabilities: CAPABILITIES });
    await refreshing;
    expect(driver.state).toBe(State.Hello);
  });
});

describe("prepare() ends the session when the driver", () => {
  test.each<[string, object, object]>([
    [
      "accepts too much",
      { result: { accepted_permissions: ["net", "disk"] } },
      { class: "permission_denied" },
    ],
    [
      "accepts twice",
      { result: { accepted_permissions: ["net", "net"] } },
      { class: "permission_denied" },
    ],
    ["accepts a blank", { result: { accepted_permissions: [""] } }, { class: "permission_denied" }],
    [
      "answers nothing of use",
      { result: null },
      { code: "protocol_fault", class: "invalid_request" },
    ],
    [
      "answers more than is known",
      { result: { accepted_permissions: [], x: 1 } },
      { code: "protocol_fault" },
    ],
    ["refuses", { error: errorOf("permission_denied") }, { class: "permission_denied" }],
  ])("%s", async (_, answer, wanted) => {
    const { driver, other } = await connected();
    const preparing = driver.prepare({ ...PLAN, permissions: ["net"] });
    const { id } = await other.expect("driver.prepare");
    void other.say({ id, ...answer });
    expect(await failureOf(preparing)).toMatchObject(wanted);
    expect((await driver.ended).reason).toMatchObject(wanted);
    expect(await failureOf(driver.prepare(PLAN))).toMatchObject(wanted);
  });

  test("does not answer in time", async () => {
    const { driver, other, clock } = await connected({ requestTimeout: 70 });
    const preparing = driver.prepare(PLAN);
    await other.expect("driver.prepare");
    clock.advance(70);
    expect(await failureOf(preparing)).toMatchObject({ code: "request_timeout" });
    await driver.ended;
  });
});

test("prepare() is allowed once, and not twice at the same time", async () => {
  const { driver, other } = await connected();
  const preparing = driver.prepare(PLAN);
  expect(await failureOf(driver.prepare(PLAN))).toMatchObject({ class: "invalid_state" });
  await other.answer("driver.prepare", { accepted_permissions: [] });
  await preparing;
  expect(await failureOf(driver.prepare(PLAN))).toMatchObject({ class: "invalid_state" });
});

test("refreshCapabilities() works in HELLO and PREPARED and is refused while an invocation is under way", async () => {
  const session = await connected();
  const { driver, other } = session;
  const first = driver.refreshCapabilities();
  await other.answer("driver.capabilities", {
    capabilities: { ...CAPABILITIES, operations: ["a"] },
  });
  expect((await first).operations).toEqual(["a"]);
  expect(driver.capabilities.operations).toEqual(["a"]);
  const preparing = driver.prepare(PLAN);
  await other.answer("driver.prepare", { accepted_permissions: [] });
  await preparing;
  const second = driver.refreshCapabilities();
  await other.answer("driver.capabilities", { capabilities: CAPABILITIES });
  await second;
  await invoked(session);
  expect(await failureOf(driver.refreshCapabilities())).toMatchObject({ class: "invalid_state" });
  expect(await failureOf(driver.reset())).toMatchObject({ class: "invalid_state" });
});

test("a call that the driver does not answer in time rejects alone; its late answer is dropped", async () => {
  const { driver, other, clock } = await prepared({ requestTimeout: 100 });
  const call = driver.refreshCapabilities();
  const { id } = await other.expect("driver.capabilities");
  clock.advance(100);
  expect(await failureOf(call)).toMatchObject({ code: "request_timeout" });
  void other.say({ id, result: { capabilities: CAPABILITIES } });
  const resetting = driver.reset();
  await other.answer("driver.reset", {});
  await resetting;
});

test("a call that the driver refuses rejects alone, with class, message and details", async () => {
  const { driver, other } = await prepared();
  const resetting = driver.reset();
  const { id } = await other.expect("driver.reset");
  const error = {
    code: 7,
    message: "busy",
    data: { class: "driver_internal", details: { retry: true } },
  };
  void other.say({ id, error });
  expect(await failureOf(resetting)).toMatchObject({
    class: "driver_internal",
    data: { method: "driver.reset", rpcCode: 7, details: { retry: true } },
  });
  expect(await settled(driver.ended)).toBe(false);
});

test("a result of capabilities or reset that does not fit ends the session", async () => {
  for (const [call, method] of [
    ["refreshCapabilities", "driver.capabilities"],
    ["reset", "driver.reset"],
  ] as const) {
    const { driver, other } = await prepared();
    const calling = driver[call]();
    await other.answer(method, { surprise: 1 });
    expect(await failureOf(calling)).toMatchObject({
      code: "protocol_fault",
      class: "invalid_request",
    });
    expect((await driver.ended).reason).toMatchObject({ code: "protocol_fault" });
  }
});

test("reset() is refused before prepare()", async () => {
  const { driver } = await connected();
  expect(await failureOf(driver.reset())).toMatchObject({ class: "invalid_state" });
});
