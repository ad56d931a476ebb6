import { describe, expect, test } from "vitest";
import { cli, eventsOf, nodePath, rawDriver, skipReason } from "./support/cli.ts";

/** What a terminal may act on, line ends and tabs excepted. */
const ACTIVE = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const KEY = "key-0123456789";
const ARGS = [
  "--grant-all",
  "--env",
  `API_KEY=${KEY}`,
  "--operation",
  "act",
  "--operation",
  "x\u001b[2J",
];

describe.skipIf(nodePath === undefined)(`sluice run with a hostile driver${skipReason}`, () => {
  test.each([["--verbose"], ["--json"], ["--quiet"]])(
    "lets nothing through that acts on a terminal, and no secret: %s",
    { timeout: 30_000 },
    async (view) => {
      const { code, stdout, stderr } = await cli("run", view, ...ARGS, "--", ...rawDriver("evil"));
      expect(code).toBe(1);
      expect(stdout).not.toMatch(ACTIVE);
      expect(stderr).not.toMatch(ACTIVE);
      expect(stderr).toContain(
        String.raw`[driver] \u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\u2028`,
      );
      expect(stderr).toContain("token [redacted] env [redacted]\n");
      // The token is the only text of 64 hexadecimal digits but for digests, which are all zeros.
      expect(stdout + stderr).not.toMatch(/(?!0{64})[0-9a-f]{64}/);
      expect(stdout + stderr).not.toContain(KEY);
    },
  );

  test(
    "--json keeps the values as the driver sent them, the token excepted",
    { timeout: 30_000 },
    async () => {
      const { stdout } = await cli("run", "--json", ...ARGS, "--", ...rawDriver("evil"));
      expect(eventsOf(stdout).find(({ type }) => type === "observation")).toMatchObject({
        payload: {
          text: "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\u2028",
          token: "[redacted]",
        },
      });
    },
  );
});
