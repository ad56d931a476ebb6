import * as fc from "fast-check";

/** What a stream of the driver carries, and how its source behaves. */
export interface DataAct {
  readonly do: "data";
  readonly chunks: readonly number[];
  readonly pause: number;
  readonly fails: boolean;
  readonly wait: boolean;
  readonly kind: "bytes" | "stream" | "iterable";
}

/** What a handler does, in order. */
export type Act =
  | DataAct
  | { readonly do: "observe"; readonly count: number; readonly bytes: number }
  | { readonly do: "sideBySide"; readonly streams: readonly DataAct[] }
  | { readonly do: "sleep"; readonly time: number }
  | { readonly do: "input"; readonly bytes: number }
  | { readonly do: "throw" };

/** What the host does with the data of one observation. */
export interface Reading {
  readonly how: "read" | "ignore" | "break" | "lock" | "later";
  readonly after: number;
  readonly pause: number;
}

/** What the host does with one run. */
export interface Program {
  readonly acts: readonly Act[];
  readonly heeds: boolean;
  readonly consumer: "loop" | "completed" | "collect" | "ahead" | "nothing";
  readonly readings: readonly Reading[];
  readonly accepted: boolean;
  readonly completedToo: boolean;
  readonly hold: number;
  readonly leaveAfter: number;
  readonly cancelAfter: number;
  readonly timeout: number;
  readonly idleTimeout: number;
  readonly input: { readonly bytes: number; readonly fails: boolean } | undefined;
}

/** A session: its bounds, and a program for each run. */
export interface World {
  readonly programs: readonly Program[];
  readonly room: number;
  readonly cancellation: boolean;
  readonly window: number;
  readonly frame: number;
  readonly pipe: number;
  /** After how many further lines the answer to `driver.invoke` goes out; Infinity for after the completion. */
  readonly answerAfter: number;
}

const NEVER = 0;

const data: fc.Arbitrary<DataAct> = fc.record({
  do: fc.constant("data" as const),
  chunks: fc.array(
    fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 400 }), fc.integer({ min: 2000, max: 9000 })),
    { maxLength: 6 },
  ),
  pause: fc.constantFrom(0, 0, 0, 7, 40),
  fails: fc.constantFrom(false, false, false, true),
  wait: fc.constantFrom(true, true, false),
  kind: fc.constantFrom("bytes", "stream", "iterable"),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: data },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("observe" as const),
      count: fc.integer({ min: 1, max: 30 }),
      bytes: fc.nat({ max: 300 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("sideBySide" as const),
      streams: fc.array(data, { minLength: 2, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("sleep" as const), time: fc.nat({ max: 60 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("input" as const), bytes: fc.nat({ max: 9000 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "throw" as const }) },
);

const reading: fc.Arbitrary<Reading> = fc.record({
  how: fc.constantFrom("read", "read", "read", "ignore", "break", "lock", "later"),
  after: fc.nat({ max: 600 }),
  pause: fc.constantFrom(0, 0, 0, 10, 70),
});

const program: fc.Arbitrary<Program> = fc.record({
  acts: fc.array(act, { maxLength: 6 }),
  heeds: fc.constantFrom(true, true, false),
  consumer: fc.constantFrom("loop", "loop", "loop", "completed", "collect", "ahead", "nothing"),
  readings: fc.array(reading, { minLength: 1, maxLength: 4 }),
  accepted: fc.boolean(),
  completedToo: fc.boolean(),
  hold: fc.constantFrom(0, 0, 1, 4),
  leaveAfter: fc.constantFrom(NEVER, NEVER, NEVER, 1, 3, 20),
  cancelAfter: fc.constantFrom(NEVER, NEVER, NEVER, 1, 30),
  timeout: fc.constantFrom(NEVER, NEVER, 40, 400),
  idleTimeout: fc.constantFrom(NEVER, NEVER, 30),
  input: fc.option(fc.record({ bytes: fc.nat({ max: 9000 }), fails: fc.boolean() }), {
    nil: undefined,
  }),
});

/** A program that takes at once, and in order, whatever it is given. */
const ordinary: fc.Arbitrary<Program> = program.map((one) => ({
  ...one,
  consumer: "loop",
  readings: one.readings.map(({ how, after }) => ({
    how: how === "lock" || how === "later" ? "read" : how,
    after,
    pause: 0,
  })),
  accepted: false,
  hold: 0,
  leaveAfter: NEVER,
  cancelAfter: NEVER,
  timeout: NEVER,
  idleTimeout: NEVER,
}));

/** Any session. */
export const world: fc.Arbitrary<World> = fc
  .record({
    programs: fc.oneof(
      { weight: 2, arbitrary: fc.array(program, { minLength: 1, maxLength: 3 }) },
      { weight: 1, arbitrary: fc.array(ordinary, { minLength: 1, maxLength: 3 }) },
    ),
    room: fc.integer({ min: 1, max: 3 }),
    cancellation: fc.constantFrom(true, true, false),
    window: fc.constantFrom(1, 50, 1000, 65_536),
    frame: fc.constantFrom(1, 64, 4096),
    pipe: fc.constantFrom(128, 4096, 65_536),
    answerAfter: fc.constantFrom(0, 0, 3, Infinity),
  })
  .filter(({ programs, window, frame }) =>
    // A byte a frame is slow, and shows no more with thousands of them.
    window > 1 && frame > 1 ? true : programs.every(({ acts }) => bytesIn(acts) < 3000),
  );

function bytesIn(acts: readonly Act[]): number {
  let bytes = 0;
  for (const one of acts) {
    if (one.do === "data") for (const size of one.chunks) bytes += size;
    if (one.do === "sideBySide") bytes += bytesIn(one.streams);
  }
  return bytes;
}

/**
 * Whether a host does nothing that a driver could wait for: all it is given is taken at once, in order.
 * Such a session must end by itself, with every run complete and nothing given up.
 */
export function isOrdinary({ programs, answerAfter }: World): boolean {
  return programs.every(
    (one) =>
      one.consumer === "loop" &&
      !(one.accepted && answerAfter > 0) &&
      one.readings.every(({ how, pause }) => how !== "lock" && how !== "later" && pause === 0) &&
      one.hold === 0 &&
      one.leaveAfter === NEVER &&
      one.cancelAfter === NEVER &&
      one.timeout === NEVER &&
      one.idleTimeout === NEVER,
  );
}

/** Whether a host leaves a run alone for good, so that only `close()` can end it. */
export function isLeftAlone({ programs }: World): boolean {
  return programs.some(({ consumer }) => consumer === "nothing");
}
