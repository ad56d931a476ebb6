import { describe, expect, test } from "vitest";
import {
  decodeControlFrame,
  MAX_CONTROL_FRAME_BYTES,
  ProtocolError,
} from "../../../lib/driver/mod.ts";
import { DIGEST, instanceId } from "../support/frames.ts";

const IDS = `"invocation_id":"${instanceId(1)}","attempt_id":"${instanceId(2)}"`;
const OBSERVED = `{${IDS},"sequence":1,"kind":"k","monotonic_ns":1}`;
const BLANKS = " ".repeat(MAX_CONTROL_FRAME_BYTES);

/** A frame with these members. */
const frame = (members: string, version = "2.0"): string => `{"jsonrpc":"${version}",${members}}`;

/** What is wrong with it, in the order of the spec; the frame; the class; the code. */
const PAIRS: readonly (readonly [string, string | Uint8Array, string, string])[] = [
  ["no bytes but an ending", "\r\n", "invalid_request", "empty_control_frame"],
  [
    "a line break and too many bytes",
    `${BLANKS}\r{}`,
    "invalid_request",
    "multiline_control_frame",
  ],
  ["a line break and bad JSON", "{\n\n", "invalid_request", "multiline_control_frame"],
  ["too many bytes and bad JSON", `{${BLANKS}`, "budget_exceeded", "control_frame_too_large"],
  [
    "too many bytes and invalid UTF-8",
    new Uint8Array(MAX_CONTROL_FRAME_BYTES + 1).fill(0xff),
    "budget_exceeded",
    "control_frame_too_large",
  ],
  [
    "invalid UTF-8 and a member twice",
    Uint8Array.from([...new TextEncoder().encode('{"a":1,"a":"'), 0xff, 0x22, 0x7d]),
    "invalid_request",
    "invalid_utf8",
  ],
  [
    "a member twice and a syntax error behind it",
    '{"a":1,"a":2,',
    "invalid_request",
    "duplicate_key",
  ],
  ["a syntax error and a member twice behind it", '{"a":x,"a":2}', "invalid_request", "syntax"],
  ["a member twice and a value behind", '{"a":1,"a":2} 1', "invalid_request", "duplicate_key"],
  [
    "a member twice and a wrong version",
    '{"jsonrpc":"1.0","jsonrpc":"1.0"}',
    "invalid_request",
    "duplicate_key",
  ],
  [
    "a value behind and a wrong version",
    `${frame('"id":1', "1.0")} {}`,
    "invalid_request",
    "trailing",
  ],
  [
    "an unpaired surrogate and a wrong version",
    frame('"id":"\\ud800"', "1.0"),
    "invalid_request",
    "lone_surrogate",
  ],
  [
    "a number out of range and a wrong version",
    frame('"id":1e999', "1.0"),
    "invalid_request",
    "number_range",
  ],
  ["no object and a member twice within", '[{"a":1,"a":1}]', "invalid_request", "duplicate_key"],
  [
    "an unknown member and a wrong version",
    frame('"extra":1', "1.0"),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a wrong spelling and a wrong version",
    frame('"ID":1', "1.0"),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a method that is no string and a wrong version",
    frame('"method":1', "1.0"),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a version that is no string and an unknown method",
    '{"jsonrpc":2,"method":"x","id":1}',
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "an error that is no object and a wrong version",
    frame('"id":1,"error":1', "1.0"),
    "invalid_request",
    "invalid_record",
  ],
  [
    "an error without data and a wrong version",
    frame('"id":1,"error":{"code":1,"message":"m"}', "1.0"),
    "unsupported_rpc_version",
    "unsupported_rpc_version",
  ],
  [
    "a wrong version and an unknown method",
    frame('"method":"driver.nothing","id":1', "1.0"),
    "unsupported_rpc_version",
    "unsupported_rpc_version",
  ],
  [
    "a wrong version and a bad id",
    frame('"method":"driver.reset","id":null', "1.0"),
    "unsupported_rpc_version",
    "unsupported_rpc_version",
  ],
  [
    "no version and bad params",
    '{"method":"driver.cancel","id":1,"params":{}}',
    "unsupported_rpc_version",
    "unsupported_rpc_version",
  ],
  [
    "a wrong version and bad params of an observation",
    frame('"method":"driver.observation","params":{}', "1.0"),
    "unsupported_rpc_version",
    "unsupported_rpc_version",
  ],
  [
    "an unknown method and a bad id",
    frame('"method":"driver.nothing","id":null'),
    "invalid_request",
    "unknown_method",
  ],
  [
    "an unknown method and a result",
    frame('"method":"driver.nothing","id":1,"result":1'),
    "invalid_request",
    "unknown_method",
  ],
  [
    "a result beside the method and a bad id",
    frame('"method":"driver.reset","result":1,"id":null'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a bad id and bad params",
    frame('"method":"driver.cancel","id":1.5,"params":{"x":1}'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a missing id and missing params",
    frame('"method":"driver.cancel"'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "an observation with an id and bad params",
    frame('"method":"driver.observation","id":null,"params":{}'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "an observation with an id and scalar params",
    frame('"method":"driver.observation","id":1,"params":1'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "an observation with scalar params",
    frame('"method":"driver.observation","params":1'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "an observation with params in a list",
    frame('"method":"driver.observation","params":[]'),
    "malformed_observation",
    "invalid_record",
  ],
  [
    "an observation without params",
    frame('"method":"driver.observation"'),
    "malformed_observation",
    "invalid_params",
  ],
  [
    "an observation with a member twice in its payload",
    frame(
      `"method":"driver.observation","params":${OBSERVED.slice(0, -1)},"payload":{"a":1,"a":1}}`,
    ),
    "invalid_request",
    "duplicate_key",
  ],
  [
    "an observation with an unknown member",
    frame(`"method":"driver.observation","params":${OBSERVED.slice(0, -1)},"x":1}`),
    "malformed_observation",
    "invalid_record",
  ],
  [
    "a completion with a bad status and a bad digest",
    frame(`"method":"driver.completed","params":{${IDS},"status":"x","summary_digest":"y"}`),
    "malformed_observation",
    "invalid_record",
  ],
  [
    "a response with params and a bad id",
    frame('"id":null,"result":1,"params":{}'),
    "invalid_request",
    "invalid_envelope",
  ],
  [
    "a response with result and error and a bad id",
    frame(
      '"id":null,"result":1,"error":{"code":1,"message":"m","data":{"class":"driver_internal"}}',
    ),
    "invalid_request",
    "invalid_envelope",
  ],
];

describe("of two faults in one frame the one that comes first in the spec gives the class", () => {
  test.each(PAIRS)("%s", (_, line, errorClass, code) => {
    let refused: unknown;
    try {
      decodeControlFrame(line);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(ProtocolError);
    expect(refused).toMatchObject({ class: errorClass, code });
  });
});

test("decodeControlFrame() refuses an unpaired surrogate in a text that is no bytes", () => {
  const text = `{"jsonrpc":"2.0","id":"\ud800","result":1}`;
  expect(() => decodeControlFrame(text)).toThrow(
    expect.objectContaining({ class: "invalid_request", code: "lone_surrogate" }),
  );
  expect(() => decodeControlFrame(`${text}\n`)).toThrow(ProtocolError);
});

test("decodeControlFrame() accepts a frame of exactly 1 MiB, with any ending", () => {
  const body = `{"jsonrpc":"2.0","id":1,"result":"${DIGEST}"}`;
  const exact = body + " ".repeat(MAX_CONTROL_FRAME_BYTES - body.length);
  for (const ending of ["", "\n", "\r\n"])
    expect(decodeControlFrame(exact + ending)).toMatchObject({ id: 1 });
  expect(() => decodeControlFrame(`${exact} `)).toThrow(
    expect.objectContaining({ class: "budget_exceeded" }),
  );
});
