import fc from "fast-check";
import { expect, test } from "vitest";
import { StderrLines } from "../../adapters/cli/stderr-lines.ts";

const encoder = new TextEncoder();

function linesOf(chunks: readonly Uint8Array[], secret = "none"): string[] {
  const shown: string[] = [];
  const hide = (line: string): string => line.replaceAll(secret, "***");
  const lines = new StderrLines((line) => shown.push(line), { hide, longest: secret.length });
  for (const chunk of chunks) lines.push(chunk);
  lines.flush();
  return shown;
}

test("StderrLines gives the same lines for any cut of the bytes", () => {
  const text = "eins\nzwei ü €\r\n\n日本語 👍\nsecret-word\nlast";
  const whole = encoder.encode(text);
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 8 }), (cuts) => {
      const borders = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const chunks = borders.slice(1).map((end, index) => whole.subarray(borders[index], end));
      expect(linesOf(chunks, "secret-word")).toStrictEqual([
        "eins",
        "zwei ü €",
        "",
        "日本語 👍",
        "***",
        "last",
      ]);
    }),
    { numRuns: 300 },
  );
});

test("StderrLines cuts a long line once and drops its rest", () => {
  const chunks = Array.from({ length: 100 }, () => encoder.encode("x".repeat(1000)));
  const lines = linesOf([...chunks, encoder.encode("\nnext\n")]);
  expect(lines).toStrictEqual([`${"x".repeat(4096)}…`, "next"]);
});

test("StderrLines shows no part of a secret that its cut goes through", () => {
  const [line = ""] = linesOf(
    [encoder.encode(`${"x".repeat(4090)}secret-word${"y".repeat(5000)}`)],
    "secret-word",
  );
  expect(line).not.toContain("sec");
});
