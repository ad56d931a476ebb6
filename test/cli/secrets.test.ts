import { expect, test } from "vitest";
import { Secrets } from "../../adapters/cli/secrets.ts";

const TOKEN = "0123456789abcdef";

test("hide() blanks the token, long values, and each line of a value", () => {
  const secrets = new Secrets(TOKEN, [
    "first-line\nsecond-line\nshort",
    "tiny",
    "first-line-and-more",
  ]);
  expect(secrets.hide(`${TOKEN} first-line second-line short tiny first-line-and-more`)).toBe(
    "[redacted] [redacted] [redacted] short tiny [redacted]",
  );
  expect(secrets.longest).toBe("first-line-and-more".length);
});

test("hideToken() leaves the environment's values alone", () => {
  const secrets = new Secrets(TOKEN, ["long-value"]);
  expect(secrets.hideToken(`${TOKEN} long-value`)).toBe("[redacted] long-value");
});

test("hide() takes a value as text, not as a pattern", () => {
  expect(new Secrets(TOKEN, ["$& (.*)+ []"]).hide("a $& (.*)+ [] b")).toBe("a [redacted] b");
});
