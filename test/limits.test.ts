import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, type LimitOptions, resolveLimits } from "../lib/limits.ts";

describe("resolveLimits()", () => {
  test("merges options over the defaults", () => {
    expect(resolveLimits({ inFlight: 3, noise: 1 } as LimitOptions)).toEqual({
      ...DEFAULT_LIMITS,
      inFlight: 3,
    });
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])("refuses %d", (value) => {
    expect(() => resolveLimits({ inFlight: value })).toThrow(RangeError);
  });

  test("refuses more than the wire can carry", () => {
    expect(() => resolveLimits({ companionWindow: 2 ** 31 })).toThrow(RangeError);
    expect(() => resolveLimits({ dataFrameBytes: 2 ** 18 + 1 })).toThrow(RangeError);
  });

  test("refuses a limit that the protocol fixes, instead of ignoring it", () => {
    expect(() => resolveLimits({ controlFrameBytes: 2 ** 21 } as LimitOptions)).toThrow(TypeError);
  });
});
