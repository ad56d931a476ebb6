import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { openCompanion, takeCompanionAddress } from "../../../adapters/node/open-companion.ts";
import { linuxOnly } from "./start.ts";

linuxOnly();

afterEach(() => void vi.restoreAllMocks());

test("takeCompanionAddress() takes both names out of the environment", () => {
  process.env["SLUICE_COMPANION"] = "fd:3";
  process.env["SLUICE_COMPANION_TOKEN"] = "secret";
  expect(takeCompanionAddress()).toEqual({ address: "fd:3", token: "secret" });
  expect(Object.keys(process.env).filter((name) => name.startsWith("SLUICE_COMP"))).toEqual([]);
  expect(takeCompanionAddress()).toEqual({ address: undefined, token: undefined });
});

test("openCompanion() without an address is silent", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(await openCompanion({ address: undefined, token: undefined })).toBeUndefined();
  expect(write).not.toHaveBeenCalled();
});

test.each([
  ["fd:", "is no descriptor of a channel"],
  ["fd:0", "is no descriptor of a channel"],
  ["fd:2", "is no descriptor of a channel"],
  ["fd:3x", "is no descriptor of a channel"],
  ["fd:99999", "EBADF"],
  ["unix:/no/such/socket", "ENOENT"],
  ["tcp:127.0.0.1:1", "ECONNREFUSED"],
  ["tcp:127.0.0.1:no", "ort"],
  ["ftp:host", 'the unknown kind "ftp"'],
  ["nonsense", 'the unknown kind ""'],
])("openCompanion() says why %j cannot be opened", async (address, why) => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(await openCompanion({ address, token: "t" })).toBeUndefined();
  expect(write.mock.calls.map(([text]) => text)).toEqual([
    expect.stringMatching(/^The companion channel cannot be opened: .*\n$/s),
  ]);
  expect(write.mock.calls[0]![0]).toContain(why);
});

test("openCompanion() leaves a descriptor alone that is no socket", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const fd = openSync("/dev/null", "r");
  onTestFinished(() => closeSync(fd));
  expect(await openCompanion({ address: `fd:${fd}`, token: "t" })).toBeUndefined();
  expect(write.mock.calls[0]![0]).toContain(`descriptor ${fd} is no socket`);
});
