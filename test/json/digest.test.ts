import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalDigest, createSha256, rawJson, sha256Digest } from "../../lib/json/mod.ts";

test("sha256Digest() writes sha256: and 64 hex digits", () => {
  expect(sha256Digest("")).toBe(
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  expect(sha256Digest("abc")).toBe(
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  expect(sha256Digest("é")).toBe(sha256Digest(Uint8Array.of(0xc3, 0xa9)));
});

test("createSha256() gives the same digest for any cut of the data", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary" }))),
      (pieces) => {
        const ours = createSha256();
        const theirs = createHash("sha256");
        for (const piece of pieces) {
          ours.update(piece);
          theirs.update(piece);
        }
        expect(ours.digestHex()).toBe(theirs.digest("hex"));
      },
    ),
    { numRuns: 200 },
  );
});

test("canonicalDigest() is the digest of the canonical text, however the value is spelled", () => {
  const digest = sha256Digest('{"a":[1,"é"],"b":null}');
  expect(canonicalDigest({ b: null, a: [1, "é"] })).toBe(digest);
  expect(canonicalDigest(rawJson('{ "b":null, "\\u0061":[1.0,"\\u00e9"] }'))).toBe(digest);
});

test("sha256Digest() refuses text that UTF-8 cannot hold", () => {
  expect(() => sha256Digest("a\ud800")).toThrow(TypeError);
  expect(() => createSha256().update("\udc00")).toThrow(TypeError);
});
