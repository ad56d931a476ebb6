import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { spawnDriver, type SpawnDriverOptions } from "../../adapters/node/spawn-driver.ts";
import { concat } from "../../lib/bytes/concat.ts";
import type { ControlBlock } from "../../lib/driver/companion/mod.ts";
import {
  CancelResult,
  type CompletedParams,
  type DataFrameHeader,
  decodeControlFrame,
  decodeParamsStrict,
  type Driver,
  ErrorClass,
  HelloResult,
  InstanceId,
  Machine,
  type Message,
  Method,
  ObjectRef,
  type ObservationParams,
  PrepareResult,
  RPC_CODES,
  State,
  validateHelloResult,
} from "../../lib/driver/mod.ts";
import { encodeLengthPrefixed } from "../../lib/frames/mod.ts";
import { canonicalJson } from "../../lib/json/mod.ts";
import { DEFAULT_LIMITS } from "../../lib/limits.ts";
import { isSluiceError, toBytes } from "../../lib/mod.ts";
import { collect } from "../../lib/stage/mod.ts";
import { RECORDS } from "../../scripts/schema-files.ts";
import { type Block, BlockReader, encodeBlocks } from "../driver/companion/support/blocks.ts";
import { isAlive, waitGone } from "../support/processes.ts";

const page = readFileSync(new URL("../../docs/wire.md", import.meta.url), "utf8");
const encoder = new TextEncoder();
const sha256 = (data: string | Uint8Array): string =>
  createHash("sha256").update(data).digest("hex");

/** The lines of the one code block with this info string. */
function block(info: string): string[] {
  const [, text] = page.split(`\`\`\`${info}\n`);
  return text!.slice(0, text!.indexOf("\n```")).split("\n");
}

/** The rows of the one table whose head begins with these columns, as cells without code marks. */
function table(...head: readonly string[]): string[][] {
  const cells = (line: string): string[] =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", ""));
  const lines = page.split("\n");
  const start = lines.findIndex((line) => cells(line).slice(0, head.length).join() === head.join());
  expect(start, head.join()).toBeGreaterThan(0);
  const rest = lines.slice(start + 2);
  return rest
    .slice(
      0,
      rest.findIndex((line) => !line.startsWith("|")),
    )
    .map(cells);
}

const numberOf = (text: string): number => Number(text.replaceAll(" ", ""));

/** The frames of the example session with who sends them. */
const session = block("ndjson control").map((line) => ({
  from: line[0] === ">" ? "host" : "driver",
  message: decodeControlFrame(line.slice(2)),
}));

describe("docs/wire.md, control pipe", () => {
  test("every example frame decodes, in an order that the machine allows", () => {
    const machine = new Machine();
    const asked = new Map<unknown, Message>();
    for (const { from, message } of session) {
      const { id, method, error } = message;
      const notification = method === Method.Observation || method === Method.Completed;
      expect(from).toBe(method === undefined || notification ? "driver" : "host");
      if (method !== undefined && id !== undefined) asked.set(id, message);
      // What a request does, it does with its response; an invocation begins at once.
      const applied = method === undefined ? asked.get(id)! : message;
      if (method === undefined && applied.method === Method.Invoke) continue;
      if (error !== undefined) expect(() => machine.apply(applied)).toThrow(/not allowed in state/);
      else if (id === undefined || method === undefined || method === Method.Invoke)
        machine.apply(applied);
    }
    expect(machine.state).toBe(State.Shutdown);
    const methods = new Set(session.flatMap(({ message }) => message.method ?? []));
    expect(Object.values(Method).filter((method) => !methods.has(method))).toEqual([
      Method.Capabilities,
    ]);
  });

  test("the results in the examples fit their methods", () => {
    const results = session.flatMap(({ message }) => message.result ?? []);
    const text = (k: number): string => JSON.stringify(results[k]);
    validateHelloResult(decodeParamsStrict(text(0), HelloResult));
    decodeParamsStrict(text(1), PrepareResult);
    decodeParamsStrict(text(3), CancelResult);
  });

  test("the table of methods and the lists of members are those of the contract", () => {
    const methods = table("method", "from").map(([method, from]) => [method, from]);
    expect(methods).toEqual(
      Object.values(Method).map((method) => [
        method,
        method === Method.Observation || method === Method.Completed ? "driver" : "host",
      ]),
    );
    const names: Readonly<Record<string, string>> = {
      Range: "VersionRange",
      Identity: "DriverIdentity",
      Handle: "ExactInputHandle",
    };
    const bullets = [...page.matchAll(/^- \*\*(\w+)\*\*: ([\s\S]*?)(?=\n- |\n\n)/gmu)];
    const records = bullets.flatMap(([, name, text]) => {
      const record = RECORDS.get(names[name!] ?? name!);
      return record === undefined ? [] : [{ name: name!, text: text!, record }];
    });
    expect(records.length).toBe(15);
    for (const { name, text, record } of records) {
      const members = [...text.matchAll(/`(\w+)`(\??)/gu)]
        .map(([, member, mark]) => ({ member: member!, required: mark === "" }))
        .filter(({ member }) => Object.hasOwn(record.properties!, member));
      expect(new Set(members.map(({ member }) => member)), name).toEqual(
        new Set(Object.keys(record.properties!)),
      );
      for (const { member, required } of members)
        expect(required, `${name}.${member}`).toBe(record.required!.includes(member));
    }
  });

  test("the patterns are those of the contract", () => {
    for (const { pattern } of [InstanceId, ObjectRef.properties!["kind"]!])
      expect(page).toContain(`\`${pattern}\``);
  });

  test("the table of states is what the machine does", () => {
    const columns = Object.values(State);
    for (const [method, ...cells] of table("method", ...columns)) {
      for (const [index, state] of columns.entries()) {
        const machine = machineIn(state);
        const cell = cells[index]!;
        const attempt = (): void => machine.apply(exampleOf(method!));
        if (cell === "") expect(attempt, `${method} in ${state}`).toThrow(/not allowed in state/);
        else attempt();
        expect(machine.state, `${method} in ${state}`).toBe(/→ (\w+)/u.exec(cell)?.[1] ?? state);
      }
    }
  });

  test("the table of errors has every class with the kit's code", () => {
    const codes = table("class", "code").map(([name, code]) => [name, Number(code)]);
    expect(Object.fromEntries(codes)).toEqual(RPC_CODES);
    expect(codes.length).toBe(Object.keys(ErrorClass).length);
  });

  test("the worked summary digest is right", () => {
    const lines = (info: string): string =>
      block(info)
        .map((line) => `${line}\n`)
        .join("");
    for (const line of [...block("ndjson observations"), ...block("ndjson streams")])
      expect(canonicalJson(JSON.parse(line))).toBe(line);
    const digests = Object.fromEntries(block("text digests").map((line) => line.split(/ +/u)));
    expect(digests["O"]).toBe(sha256(lines("ndjson observations")));
    expect(digests["S"]).toBe(sha256(lines("ndjson streams")));
    expect(digests["digest"]).toBe(`sha256:${sha256(`${digests["O"]}\n${digests["S"]}\n`)}`);
    expect(digests["nothing"]).toBe(`sha256:${sha256(`${sha256("")}\n${sha256("")}\n`)}`);
    const seen = session.flatMap(({ message: { method, params } }) => {
      if (method !== Method.Observation) return [];
      const { kind, sequence, payload, data_stream } = params as ObservationParams;
      return [canonicalJson({ kind, sequence, payload, stream: data_stream?.stream_id })];
    });
    expect(seen).toEqual(block("ndjson observations"));
    const { summary_digest } = session.find(({ message }) => message.method === Method.Completed)!
      .message.params as CompletedParams;
    expect(summary_digest).toBe(digests["digest"]);
  });
});

describe("docs/wire.md, companion channel", () => {
  const blocks = block("ndjson companion").map((line) => JSON.parse(line) as object);
  const read = (bytes: Uint8Array): readonly Block[] => {
    const reader = new BlockReader();
    reader.push(bytes);
    reader.end();
    expect(reader.fault).toBeUndefined();
    return reader.blocks;
  };

  test("every example block decodes, in the order of the members on the page and canonical", () => {
    const raw = blocks.map((value, index) =>
      concat([
        prefixed(encoder.encode(block("ndjson companion")[index])),
        ...("type" in value ? [] : [prefixed(encoder.encode("hello"))]),
      ]),
    );
    const wanted = blocks.map((value) =>
      "type" in value
        ? (value as ControlBlock)
        : { header: value as DataFrameHeader, payload: encoder.encode("hello") },
    );
    expect(read(concat(raw))).toEqual(wanted);
    expect(read(encodeBlocks(wanted))).toEqual(wanted);
  });

  test("the bytes in hex are those of the kit", () => {
    const bytes = block("text hex").map((line) =>
      Uint8Array.from(Buffer.from(line.replaceAll(" ", ""), "hex")),
    );
    const hello = { ...blocks[0], window: 0 } as ControlBlock;
    const frame = { header: blocks.at(-1) as DataFrameHeader, payload: encoder.encode("hello") };
    expect(read(concat(bytes))).toEqual([hello, frame]);
    expect(concat(bytes)).toEqual(encodeBlocks([hello, frame]));
  });

  test("the table of lengths is right", () => {
    const rows = table("length", "bytes");
    expect(rows.length).toBeGreaterThan(5);
    for (const [length, bytes] of rows) {
      const prefix = prefixed(new Uint8Array(numberOf(length!))).subarray(
        0,
        bytes!.split(" ").length,
      );
      expect(Buffer.from(prefix).toString("hex")).toBe(bytes!.replaceAll(" ", ""));
    }
  });
});

function prefixed(bytes: Uint8Array): Uint8Array {
  return concat(collect(encodeLengthPrefixed(), [bytes]).values);
}

test("docs/wire.md names every limit with its default", () => {
  const rows = table("limit", "value");
  expect(rows.length).toBeGreaterThan(25);
  for (const [name, value] of rows)
    expect([name, numberOf(value!)]).toEqual([
      name,
      DEFAULT_LIMITS[name as keyof typeof DEFAULT_LIMITS],
    ]);
  const values = new Set(rows.map(([, value]) => value));
  const prose = page.slice(0, page.indexOf("\n# Limits"));
  const named = prose.match(/\d{1,3}(?: \d{3})+(?= bytes)/gu) ?? [];
  expect(named.length).toBeGreaterThan(5);
  for (const size of named) expect(values, size).toContain(size);
});

/** The first example of a method; one is made where there is none. */
function exampleOf(method: string): Message {
  const found = session.find(({ message }) => message.method === method)?.message;
  if (method === Method.Completed) return withParams(found!, { last_sequence: undefined });
  return found ?? { jsonrpc: "2.0", id: 9, method };
}

function withParams(message: Message, more: object): Message {
  const params = JSON.parse(JSON.stringify({ ...(message.params as object), ...more })) as never;
  return decodeControlFrame(JSON.stringify({ ...message, params }));
}

function machineIn(state: State): Machine {
  const machine = new Machine();
  const path: readonly string[] = [
    Method.Hello,
    Method.Prepare,
    state === State.Shutdown ? Method.Shutdown : Method.Invoke,
  ];
  for (const method of path) {
    if (machine.state === state) break;
    machine.apply(exampleOf(method));
  }
  expect(machine.state).toBe(state);
  return machine;
}

const DRIVER = fileURLToPath(new URL("fixtures/driver.pl", import.meta.url));
const PLAN = { planDigest: `sha256:${"0".repeat(64)}`, capabilityToken: "token-token" };

/** Starts the Perl driver; when the test ends it must be gone. */
async function perl(options: SpawnDriverOptions = {}): Promise<Driver> {
  const driver = await spawnDriver(["perl", DRIVER], options);
  onTestFinished(async () => {
    await driver.close();
    expect(await waitGone(driver.pid!)).toBe(true);
  });
  return driver;
}

async function prepared(options: SpawnDriverOptions = {}): Promise<Driver> {
  const driver = await perl(options);
  await driver.prepare({ ...PLAN, permissions: ["net"] });
  return driver;
}

const all = (data: ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  toBytes(data, { maxBytes: 1 << 24 });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isSluiceError(error) ? error.code : `no SluiceError: ${String(error)}`;
}

describe("the Perl driver, written from docs/wire.md alone,", () => {
  test("says hello, takes a plan, observes, answers, resets and shuts down", async () => {
    const driver = await prepared();
    expect([driver.identity.runtime_name, driver.version, driver.permissions]).toEqual([
      "perl",
      "1.0.0",
      ["net"],
    ]);
    for (const _ of [1, 2]) {
      const run = driver.invoke("count");
      const seen: unknown[] = [];
      for await (const { sequence, kind, payload } of run) seen.push([sequence, kind, payload]);
      const value = (n: number): object => ({ n, text: 'é€😀\x7f/"\\\n', list: [1, null] });
      expect(seen).toEqual([1, 2, 3].map((n) => [n, "number", value(n)]));
      // The host has verified the digest: a wrong one is a fault.
      expect(await run.completed).toMatchObject({ status: "completed", last_sequence: 3 });
      expect(await run.accepted).toEqual({});
    }
    expect((await driver.refreshCapabilities()).operations).toContain("reverse");
    await driver.reset();
    const { exit, rungs } = await driver.close();
    expect([exit, rungs[0]]).toEqual([{ code: 0, signal: null }, "shutdown"]);
    expect(rungs).not.toContain("SIGTERM");
  });

  test.each(["fd", "unix", "tcp"] as const)(
    "reads input and sends data over the companion channel (%s) as a serial peer",
    async (companionVia) => {
      const driver = await prepared({ companionVia });
      expect(driver.capabilities.protocols).toContain("sluice.companion.v1");
      for (const size of [0, 1, 300_000, 1_000_000]) {
        const input = Uint8Array.from({ length: size }, (_, k) => (k * k) % 251);
        const run = driver.invoke("reverse", { input });
        const seen: unknown[] = [];
        for await (const { kind, payload, data } of run)
          seen.push(payload ?? [kind, sha256(await all(data!))]);
        expect(seen).toEqual([
          { length: size, sha256: sha256(input) },
          ["reversed", sha256(input.toReversed())],
          ["empty", sha256("")],
        ]);
        expect(await run.completed).toMatchObject({ status: "completed" });
        expect(await run.inputSent).toEqual({ end: "final", length: size });
      }
      expect((await driver.close()).exit).toEqual({ code: 0, signal: null });
    },
  );

  test("without a companion channel reads its input from a socket, and none from /dev/null", async () => {
    const driver = await prepared({ companion: "off" });
    expect(driver.capabilities.protocols).toEqual(["sluice.summary.v1"]);
    const run = driver.invoke("reverse", { input: encoder.encode("over a socket") });
    for await (const { payload } of run) expect(payload).toMatchObject({ length: 13 });
    expect(await run.completed).toMatchObject({ status: "errored", last_sequence: 1 });
    for await (const { payload } of driver.invoke("reverse"))
      expect(payload).toMatchObject({ length: 0 });
  });

  test("skips what is left of an input that it did not read", async () => {
    const driver = await prepared();
    const big = new Uint8Array(2_000_000);
    expect(await driver.invoke("count", { input: big }).completed).toMatchObject({
      status: "completed",
    });
    const run = driver.invoke("reverse", { input: encoder.encode("mine") });
    const kinds: string[] = [];
    for await (const { kind, data } of run) {
      kinds.push(kind);
      if (kind === "reversed") expect(await all(data!)).toEqual(encoder.encode("enim"));
    }
    expect(kinds).toEqual(["input", "reversed", "empty"]);
    expect(await run.completed).toMatchObject({ status: "completed" });
  });

  test("heeds a cancel, and goes on", async () => {
    const driver = await prepared();
    const controller = new AbortController();
    const run = driver.invoke("forever", { signal: controller.signal });
    const seen: number[] = [];
    const loop = (async () => {
      for await (const { sequence } of run) {
        seen.push(sequence);
        if (sequence === 3) controller.abort();
      }
    })();
    expect(await codeOf(loop)).toBe("aborted");
    expect(seen).toEqual([1, 2, 3]);
    expect(await run.completed).toMatchObject({ status: "cancelled" });
    expect(await driver.invoke("count").completed).toMatchObject({ status: "completed" });
  });

  test("refuses what it must, and reports a failure as errored", async () => {
    const driver = await prepared();
    expect(await codeOf(driver.invoke("other").completed)).toBe("capability_mismatch");
    expect(await driver.invoke("fail").completed).toMatchObject({ status: "errored" });
    const versions = { minimum: "1.0.1", maximum: "2" };
    expect(await codeOf(perl({ versions }))).toBe("unsupported_rpc_version");
  });

  test("is found out when its digest is wrong", async () => {
    const driver = await prepared();
    const error = await driver.invoke("lie").completed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "protocol_fault", class: "malformed_observation" });
  });

  test("ends with its host's stdin, whatever it does", async () => {
    const driver = await perl();
    expect(await driver.close()).toMatchObject({ exit: { code: 0 }, rungs: ["stdin"] });
    expect(isAlive(driver.pid!)).toBe(false);
  });
});
