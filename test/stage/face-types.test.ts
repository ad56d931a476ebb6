import { expectTypeOf, test } from "vitest";
import type { SluiceError } from "../../lib/errors.ts";
import { toIterable, toTransformStream } from "../../lib/stage/mod.ts";
import { script } from "./stages.ts";

test("toTransformStream() has the type of its outputs by its options", () => {
  expectTypeOf(toTransformStream(script()).readable).toEqualTypeOf<ReadableStream<string>>();
  expectTypeOf(toTransformStream(script(), {}).readable).toEqualTypeOf<ReadableStream<string>>();
  expectTypeOf(toTransformStream(script(), { batch: true }).readable).toEqualTypeOf<
    ReadableStream<readonly string[]>
  >();
  expectTypeOf(toTransformStream(script(), { batch: true, faults: "skip" }).readable).toEqualTypeOf<
    ReadableStream<readonly string[]>
  >();
  expectTypeOf(toTransformStream(script(), { faults: "emit" }).readable).toEqualTypeOf<
    ReadableStream<string | SluiceError>
  >();
  expectTypeOf(toTransformStream(script(), { faults: "emit", batch: true }).readable).toEqualTypeOf<
    ReadableStream<readonly (string | SluiceError)[]>
  >();
  const batch = Boolean(1);
  expectTypeOf(toTransformStream(script(), { batch }).readable).toEqualTypeOf<
    ReadableStream<string | readonly string[]>
  >();
  expectTypeOf(toTransformStream(script()).writable).toEqualTypeOf<WritableStream<string>>();
});

test("toTransformStream() fits pipeThrough()", () => {
  const source = new ReadableStream<string>();
  expectTypeOf(source.pipeThrough(toTransformStream(script(), { batch: true }))).toEqualTypeOf<
    ReadableStream<readonly string[]>
  >();
});

test("toIterable() has the type of its outputs by its options", () => {
  expectTypeOf(toIterable(script(), { batch: true })).returns.toEqualTypeOf<
    AsyncGenerator<readonly string[], void, undefined>
  >();
  expectTypeOf(toIterable(script(), { faults: "emit" })).returns.toEqualTypeOf<
    AsyncGenerator<string | SluiceError, void, undefined>
  >();
});
