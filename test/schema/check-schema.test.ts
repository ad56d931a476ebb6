import { expect, test } from "vitest";
import { isSluiceError } from "../../lib/errors.ts";
import { check, checkAsync, checkEither } from "../../lib/schema/mod.ts";
import type { StandardSchemaV1 } from "../../lib/schema/mod.ts";

function schemaOf<T>(
  validate: (value: unknown) => StandardSchemaV1.Result<T> | Promise<StandardSchemaV1.Result<T>>,
): StandardSchemaV1<unknown, T> {
  return { "~standard": { version: 1, vendor: "hand", validate } };
}

const count = schemaOf<number>((value) =>
  typeof value === "string" && /^\d+$/u.test(value)
    ? { value: Number(value) }
    : { issues: [{ message: "Expected digits", path: ["a/b", { key: "c~d" }, 3] }] },
);
const later = schemaOf<number>(async (value) => count["~standard"].validate(value));

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("expected a throw");
}

test("check() returns the schema's output", () => {
  expect(check(count, "12")).toBe(12);
});

test("check() throws schema_mismatch with JSON pointers", () => {
  const thrown = thrownBy(() => check(count, "x"));
  expect(thrown).toMatchObject({
    code: "schema_mismatch",
    message: "The value at /a~1b/c~0d/3 does not match the schema: Expected digits",
    data: { issues: [{ path: "/a~1b/c~0d/3", message: "Expected digits" }], total: 1 },
  });
  expect(isSluiceError(thrown)).toBe(true);
});

test("check() keeps at most 16 issues and cuts their texts", () => {
  const issues = Array.from({ length: 40 }, () => ({
    message: "m".repeat(5000),
    path: ["p".repeat(5000)],
  }));
  const thrown = thrownBy(() =>
    check(
      schemaOf(() => ({ issues })),
      1,
    ),
  ) as {
    message: string;
    data: { issues: { path: string; message: string }[]; total: number };
  };
  expect(thrown.data.issues).toHaveLength(16);
  expect(thrown.data.total).toBe(40);
  expect(thrown.data.issues.every((issue) => issue.path.length <= 200)).toBe(true);
  expect(thrown.data.issues.every((issue) => issue.message.length <= 200)).toBe(true);
  expect(thrown.message).toContain("(and 39 more)");
  expect(thrown.message.length).toBeLessThan(500);
});

test("check() treats a failure without issues as a mismatch", () => {
  expect(
    thrownBy(() =>
      check(
        schemaOf(() => ({ issues: [] })),
        1,
      ),
    ),
  ).toMatchObject({
    code: "schema_mismatch",
    message: "The value does not match the schema",
  });
});

test("check() throws async_schema for a promise, and leaves no unhandled rejection", async () => {
  const failing = schemaOf(() => Promise.reject(new Error("late")));
  expect(thrownBy(() => check(later, "1"))).toMatchObject({ code: "async_schema" });
  expect(thrownBy(() => check(failing, "1"))).toMatchObject({ code: "async_schema" });
  await new Promise((resolve) => setTimeout(resolve, 0));
});

test("check() lets through what a broken schema throws", () => {
  const broken = new Error("broken");
  const schema = schemaOf(() => {
    throw broken;
  });
  expect(thrownBy(() => check(schema, 1))).toBe(broken);
});

test("checkAsync() takes synchronous and asynchronous schemas", async () => {
  expect(await checkAsync(count, "1")).toBe(1);
  expect(await checkAsync(later, "2")).toBe(2);
  await expect(checkAsync(count, "x")).rejects.toMatchObject({ code: "schema_mismatch" });
  await expect(checkAsync(later, "x")).rejects.toMatchObject({ code: "schema_mismatch" });
});

test("checkEither() gives a promise for an asynchronous schema alone", async () => {
  expect(checkEither(count, "1")).toBe(1);
  expect(thrownBy(() => checkEither(count, "x"))).toMatchObject({ code: "schema_mismatch" });
  const promise = checkEither(later, "2");
  expect(promise).toBeInstanceOf(Promise);
  expect(await promise).toBe(2);
  await expect(checkEither(later, "x")).rejects.toMatchObject({ code: "schema_mismatch" });
});
