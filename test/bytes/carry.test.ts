import { expect, test } from "vitest";
import { Carry } from "../../lib/bytes/carry.ts";

test("Carry holds up to its maximum and refuses more without changing", () => {
  const carry = new Carry(5);
  expect(carry.append(Uint8Array.of(1, 2, 3))).toBe(true);
  expect(carry.append(Uint8Array.of(4, 5, 6))).toBe(false);
  expect([...carry.view()]).toEqual([1, 2, 3]);
  expect(carry.append(Uint8Array.of(4, 5))).toBe(true);
  expect([...carry.view()]).toEqual([1, 2, 3, 4, 5]);
  expect(carry.view().buffer.byteLength).toBe(5);
});

test("Carry copies what it is given", () => {
  const carry = new Carry(10);
  const chunk = Uint8Array.of(1, 2);
  carry.append(chunk);
  chunk.fill(9);
  expect([...carry.view()]).toEqual([1, 2]);
});

test("Carry lets a large buffer go when it is cleared, and keeps a small one", () => {
  const carry = new Carry(1 << 20);
  carry.append(new Uint8Array(100));
  const small = carry.view().buffer;
  carry.clear();
  carry.append(Uint8Array.of(1));
  expect(carry.view().buffer).toBe(small);
  carry.append(new Uint8Array(500_000));
  carry.clear();
  carry.append(Uint8Array.of(1));
  expect(carry.view().buffer.byteLength).toBeLessThan(1024);
});
