import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../adapters/node/temporary-folder.ts";
import { linuxOnly } from "./start.ts";

linuxOnly();

test("temporaryFolder() makes a folder of mode 0700 and removes it with what it holds", () => {
  const folder = temporaryFolder();
  const { path } = folder;
  expect(statSync(path).mode & 0o777).toBe(0o700);
  writeFileSync(join(path, "file"), "text");
  folder.remove();
  expect(existsSync(path)).toBe(false);
  folder.remove();
});

test("temporaryFolder() adds one listener to the process however many there are", () => {
  const before = process.listenerCount("exit");
  const folders = Array.from({ length: 12 }, () => temporaryFolder());
  expect(process.listenerCount("exit")).toBe(before + 1);
  for (const folder of folders) folder.remove();
  expect(process.listenerCount("exit")).toBe(before);
});

test("temporaryFolder() does not mind that somebody else removed it", () => {
  const folder = temporaryFolder();
  const { path } = folder;
  rmSync(path, { recursive: true });
  expect(() => folder.remove()).not.toThrow();
});
