import { expect, test } from "vitest";
import { mergeEnvironment } from "../../lib/process/environment.ts";

test("mergeEnvironment() passes the allow-list and nothing else (row 13)", () => {
  const inherited = {
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    TZ: "UTC",
    SECRET: "s",
    AWS_TOKEN: "t",
    path: "p",
  };
  expect(mergeEnvironment({ inherited, platform: "posix" })).toEqual({
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    TZ: "UTC",
  });
});

test("mergeEnvironment() merges additions over the allow-list (row 12)", () => {
  const inherited = { PATH: "/bin", HOME: "/h" };
  const additions = { HOME: "/other", TOKEN: "t", PATH: undefined };
  expect(mergeEnvironment({ inherited, additions, platform: "posix" })).toEqual({
    HOME: "/other",
    TOKEN: "t",
  });
});

test("mergeEnvironment() inherits further names when asked", () => {
  const inherited = { PROXY: "p", OTHER: "o" };
  expect(mergeEnvironment({ inherited, inherit: ["PROXY"], platform: "posix" })).toEqual({
    PROXY: "p",
  });
});

test("mergeEnvironment() never inherits SLUICE_ names, but takes them as additions", () => {
  const inherited = { SLUICE_SESSION: "outer", Sluice_X: "x" };
  const inherit = ["SLUICE_SESSION", "Sluice_X"];
  expect(mergeEnvironment({ inherited, inherit, platform: "posix" })).toEqual({});
  const additions = { SLUICE_SESSION: "own" };
  expect(mergeEnvironment({ inherited, additions, platform: "posix" })).toEqual({
    SLUICE_SESSION: "own",
  });
});

test("mergeEnvironment() does not inherit shell functions", () => {
  expect(mergeEnvironment({ inherited: { TERM: "() { :; }; echo" }, platform: "posix" })).toEqual(
    {},
  );
});

test("mergeEnvironment() compares Windows names without case (row 12)", () => {
  const inherited = {
    Path: "C:\\",
    PathExt: ".EXE",
    ComSpec: "cmd",
    windir: "w",
    "ProgramFiles(x86)": "p",
    Secret: "s",
  };
  expect(
    mergeEnvironment({
      inherited,
      additions: { PATH: "D:\\", comspec: undefined },
      platform: "windows",
    }),
  ).toEqual({
    PATH: "D:\\",
    PathExt: ".EXE",
    windir: "w",
    "ProgramFiles(x86)": "p",
  });
});

test("mergeEnvironment() keeps an odd name an ordinary member", () => {
  const additions = Object.fromEntries([["__proto__", "x"]]);
  const merged = mergeEnvironment({ inherited: {}, additions, platform: "posix" });
  expect(Object.entries(merged)).toEqual([["__proto__", "x"]]);
});

const malformed: [name: string, value: unknown][] = [
  ["", "s3cret"],
  ["A=B", "s3cret"],
  ["A\0", "s3cret"],
  ["A", "s3cret\0"],
  ["A", 12345],
];

test.each(malformed)("mergeEnvironment() refuses %j with %j, without the value", (name, value) => {
  const additions: Record<string, string> = {};
  Object.assign(additions, { [name]: value });
  const merge = (): unknown => mergeEnvironment({ inherited: {}, additions, platform: "posix" });
  expect(merge).toThrow(TypeError);
  expect(merge).not.toThrow(/s3cret|12345/);
});
