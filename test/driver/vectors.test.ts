import process from "node:process";
import { describe, expect, test } from "vitest";
import {
  type ActiveInvocation,
  decodeControlFrame,
  Decoder,
  decodeParamsStrict,
  encodeControlFrame,
  errorClassOf,
  Machine,
  type Message,
  type MessageInput,
  messageKind,
  validateControlFrameSize,
  validateDataFrameSize,
} from "../../lib/driver/mod.ts";
import { canonicalJson, parseJson, rawJson } from "../../lib/json/mod.ts";
import { isSluiceError } from "../../lib/errors.ts";
import { anything } from "../../lib/schema/schema.ts";
import {
  asOut,
  expand,
  readVectors,
  type Vector,
  type VectorBytes,
  type VectorOut,
} from "../support/vectors.ts";
import { DEVIATIONS } from "./deviations.ts";
import { RECORDS, validatorOf } from "./records.ts";

interface Failure {
  readonly ok: false;
  readonly class?: string | null;
  readonly reason: string;
}
interface Decoded {
  readonly ok: true;
  readonly kind: string;
  readonly encoded?: VectorOut;
  readonly encode_error?: Failure;
}
type Verdict<T = unknown> = ({ readonly ok: true } & T) | Failure;

const REASONS: { readonly [code: string]: string } = {
  empty_control_frame: "empty",
  multiline_control_frame: "multiline",
  control_frame_too_large: "too_large",
  data_frame_too_large: "data_too_large",
  duplicate_key: "duplicate_key",
  trailing: "trailing",
};

function failure(error: unknown): Failure {
  const reason = isSluiceError(error) ? (REASONS[error.code] ?? "other") : "io";
  return { ok: false, class: errorClassOf(error) ?? null, reason };
}

function attempt<T extends object>(action: () => T): Verdict<T> {
  try {
    return { ok: true, ...action() };
  } catch (error) {
    return failure(error);
  }
}

function decoded(message: Message): Decoded {
  const encoding = attempt(() => ({ encoded: asOut(encodeControlFrame(message)) }));
  return {
    ok: true,
    kind: messageKind(message),
    ...(encoding.ok ? { encoded: encoding.encoded } : { encode_error: encoding }),
  };
}

/** Classless failures of the reference may carry a class here. */
function expectSame(got: object, want: object): void {
  if ("class" in want && want.class === null && "reason" in want && want.reason !== "io") {
    expect({ ...got, class: null }).toEqual(want);
  } else expect(got).toEqual(want);
}

function stricter(vector: Vector<unknown, unknown>): boolean {
  if (vector.kit !== "stricter") return false;
  expect(Object.keys(DEVIATIONS), `${vector.name} needs a deviation that is not listed`).toContain(
    vector.note,
  );
  return true;
}

/** The class that a wrongly typed value in the same place would get. */
function refusalClasses(frame: string): string[] {
  return /"driver\.(observation|completed)"|^(observe|complete)$/.test(frame)
    ? ["malformed_observation", "invalid_request"]
    : ["invalid_request"];
}

function each<I, W>(file: string, check: (vector: Vector<I, W>) => void | Promise<void>): void {
  const vectors = readVectors<I, W>("driver", `${file}.ndjson`);
  test.skipIf(vectors.length === 0)(`${file}.ndjson has vectors`, () =>
    expect(vectors.length).toBeGreaterThan(0),
  );
  for (const vector of vectors) test(vector.name, () => check(vector));
}

describe("decodeControlFrame() agrees with the reference", () => {
  each<VectorBytes, Decoded | Failure>("decode", (vector) => {
    const bytes = expand(vector.in);
    const got = attempt(() => decoded(decodeControlFrame(bytes)));
    if (!stricter(vector)) return expectSame(got, vector.want);
    expect(got.ok).toBe(false);
    expect(refusalClasses(new TextDecoder().decode(bytes))).toContain((got as Failure).class);
  });
});

describe("canonicalJson() of parseJson() agrees with the reference", () => {
  each<VectorBytes, Verdict<{ canonical: VectorOut }> & { detail?: string }>(
    "canonical",
    (vector) => {
      const got = attempt(() => ({
        canonical: asOut(new TextEncoder().encode(canonicalJson(parseJson(expand(vector.in))))),
      }));
      if (stricter(vector)) return expect(got.ok).toBe(false);
      const { detail: _, ...want } = vector.want;
      const { class: __, ...verdict } = got as Failure;
      expect(verdict).toEqual(want);
    },
  );
});

describe("decodeParamsStrict() and the validators agree with the reference", () => {
  type Want = Verdict<{ value: VectorOut; validate: Verdict | null }>;
  each<VectorBytes & { type: string }, Want>("params", (vector) => {
    const { type, ...bytes } = vector.in;
    const schema = RECORDS[type];
    if (schema === undefined) throw new Error(`no record for type ${type}`);
    const got = attempt(() => ({
      value: decodeParamsStrict(expand(bytes), schema),
    }));
    const verdict =
      got.ok && vector.want.ok && vector.want.validate === null ? got : accepted(got, type);
    if (stricter(vector)) return expect(verdict.ok).toBe(false);
    const wanted = vector.want.ok && vector.want.validate?.ok !== false;
    expect(verdict.ok).toBe(wanted);
    if (verdict.ok && vector.want.ok) expectValue(verdict.value, vector.want.value);
    if (!verdict.ok)
      expectFailure(
        verdict,
        (vector.want.ok ? vector.want.validate : vector.want) as Failure,
        got.ok,
      );
  });
});

function accepted(got: Verdict<{ value: unknown }>, type: string): Verdict<{ value: unknown }> {
  if (!got.ok) return got;
  return attempt(() => {
    validatorOf(type)(got.value);
    return { value: got.value };
  });
}

/** A missing list is written as null by the reference, as an empty list here. */
function expectValue(value: unknown, want: VectorOut): void {
  const text = canonicalJson(value);
  if ("text" in want) expect(JSON.parse(text)).toEqual(JSON.parse(want.text, listOf));
  else expect(asOut(new TextEncoder().encode(text))).toEqual(want);
}

const LISTS = new Set([
  "protocols",
  "operations",
  "requested_permissions",
  "approved_permissions",
  "accepted_permissions",
]);

function listOf(name: string, value: unknown): unknown {
  return value === null && LISTS.has(name) ? [] : value;
}

function expectFailure(got: Failure, want: Failure, typed: boolean): void {
  expect(got.reason).toBe(want.reason);
  if (want.class !== null && !typed) expect(got.class).toBe(want.class);
}

describe("Decoder agrees with the reference", () => {
  interface Input {
    readonly chunks: readonly VectorBytes[];
    readonly split_every?: number;
    readonly end?: "error";
  }
  type Outcome = Decoded | Failure | { readonly eof: true };
  each<Input, { outcomes: readonly Outcome[] }>("stream", async (vector) => {
    const decoder = new Decoder(source(vector.in));
    const strict = stricter(vector);
    for (const want of vector.want.outcomes) {
      const got: Outcome = await decoder.decode().then(
        (message) => (message === undefined ? { eof: true } : decoded(message)),
        (error: unknown) => failure(error),
      );
      if (strict && JSON.stringify(got) !== JSON.stringify(want))
        expect(got).toMatchObject({ ok: false });
      else expectSame(got, want);
    }
    if ("eof" in vector.want.outcomes.at(-1)!) expect(await decoder.decode()).toBeUndefined();
  });

  function source({ chunks, split_every: every, end }: Input): ReadableStream<Uint8Array> {
    const pieces = chunks.flatMap((chunk) => {
      const bytes = expand(chunk);
      if (bytes.length === 0) return [];
      const size = every ?? bytes.length;
      return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
    });
    let next = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = pieces[next++];
          if (piece !== undefined) controller.enqueue(piece);
          else if (end === "error") controller.error(new Error("the source failed"));
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }
});

type RawPart = string | VectorBytes;
interface VectorMessage {
  readonly jsonrpc: string;
  readonly id?: RawPart;
  readonly method?: string;
  readonly params?: RawPart;
  readonly result?: RawPart;
  readonly error?: { code: number; message: string; data?: { class: string; details?: RawPart } };
}

/** Builds a message by hand; `part` says what a raw JSON text becomes. */
function handMade(message: VectorMessage, part: (bytes: Uint8Array) => unknown): unknown {
  const raw = (value: RawPart): unknown =>
    part(typeof value === "string" ? new TextEncoder().encode(value) : expand(value));
  const { error } = message;
  return {
    ...message,
    ...(message.id !== undefined && { id: raw(message.id) }),
    ...(message.params !== undefined && { params: raw(message.params) }),
    ...(message.result !== undefined && { result: raw(message.result) }),
    ...(error?.data?.details !== undefined && {
      error: { ...error, data: { ...error.data, details: raw(error.data.details) } },
    }),
  };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

describe("encodeControlFrame() agrees with the reference", () => {
  each<{ message: VectorMessage }, Verdict<{ encoded: VectorOut }>>("encode", (vector) => {
    const got = attempt(() => ({
      encoded: asOut(
        encodeControlFrame(
          handMade(vector.in.message, (bytes) => rawJson(textOf(bytes))) as MessageInput,
        ),
      ),
    }));
    if (stricter(vector)) expect(got).toMatchObject({ ok: false, class: "invalid_request" });
    else expectSame(got, vector.want);
  });
});

describe("size checks agree with the reference", () => {
  const checks = { validateControlFrameSize, validateDataFrameSize };
  each<{ fn: keyof typeof checks; size: number }, Verdict>("limits", (vector) => {
    expectSame(
      attempt(() => {
        checks[vector.in.fn](vector.in.size);
        return {};
      }),
      vector.want,
    );
  });
});

describe("Machine agrees with the reference", () => {
  type Step =
    | { readonly op: "apply"; readonly frame: string }
    | { readonly op: "applyUnchecked"; readonly message: VectorMessage }
    | {
        readonly op: "beginInvocation" | "requestCancel" | "observe" | "complete";
        readonly params: string;
      }
    | { readonly op: "acceptHello" | "acceptPrepare" | "checkCapabilities" | "reset" | "shutdown" };
  type Want = Verdict & {
    readonly state: string;
    readonly active: object | null;
    readonly phase?: string;
  };

  each<{ steps: readonly Step[] }, { steps: readonly Want[] }>("machine", (vector) => {
    const machine = new Machine();
    const strict = stricter(vector);
    for (const [index, step] of vector.in.steps.entries()) {
      const got = { ...run(machine, step), state: machine.state, active: snapshot(machine.active) };
      const want = vector.want.steps[index]!;
      if (strict && !got.ok && want.ok) {
        expect(refusalClasses("frame" in step ? step.frame : step.op)).toContain(got.class);
        return;
      }
      expectSame(got, want);
    }
    expect(strict, "a deviation must refuse something").toBe(false);
  });

  function run(machine: Machine, step: Step): Verdict & { phase?: string } {
    if (step.op === "apply") return runFrame(machine, step.frame);
    return attempt(() => {
      if (step.op === "applyUnchecked")
        machine.apply(
          handMade(step.message, (bytes) => decodeParamsStrict(bytes, anything())) as Message,
        );
      else if ("params" in step) machine[step.op](JSON.parse(step.params) as never);
      else machine[step.op]();
      return {};
    });
  }

  function runFrame(machine: Machine, frame: string): Verdict & { phase?: string } {
    const message = attempt(() => ({ message: decodeControlFrame(frame) }));
    if (!message.ok) return { ...message, phase: "decode" };
    const applied = attempt(() => (machine.apply(message.message), {}));
    return applied.ok ? applied : { ...applied, phase: "apply" };
  }

  function snapshot(active: ActiveInvocation | undefined): object | null {
    if (active === undefined) return null;
    return {
      invocation_id: active.invocationId,
      attempt_id: active.attemptId,
      last_sequence: String(active.lastSequence),
      has_observation: active.hasObservation,
      cancel_requested: active.cancelRequested,
    };
  }
});

describe("the deviations", () => {
  const FILES = ["decode", "canonical", "params", "stream", "encode", "machine"];
  test.skipIf(process.env["VECTORS_DIR"] !== undefined)("each stand in at least one vector", () => {
    const notes = FILES.flatMap((file) => readVectors<unknown, unknown>("driver", `${file}.ndjson`))
      .filter((vector) => vector.kit === "stricter")
      .map((vector) => vector.note!);
    expect([...new Set(notes)].toSorted()).toEqual(Object.keys(DEVIATIONS).toSorted());
  });
});
