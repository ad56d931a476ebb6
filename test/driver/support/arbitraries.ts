import * as fc from "fast-check";
import { ErrorClass, Method, TerminalStatus } from "../../../lib/driver/mod.ts";
import type { MessageInput } from "../../../lib/driver/mod.ts";
import { instanceId } from "./frames.ts";

const id = fc.oneof(fc.string({ unit: "grapheme" }), fc.maxSafeInteger());
const count = fc.maxSafeNat();
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const anyText = fc.string({ unit: "grapheme", maxLength: 12 });
const texts = fc.array(anyText, { maxLength: 4 });
const free = fc.jsonValue({ stringUnit: "grapheme", maxDepth: 3 });
const instance = fc.nat({ max: 0xffff }).map(instanceId);
const hex = fc.string({
  unit: fc.constantFrom(..."0123456789abcdef".split("")),
  minLength: 64,
  maxLength: 64,
});
const digest = hex.map((digits) => `sha256:${digits}`);
const ids = { invocation_id: instance, attempt_id: instance };
const required = <T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(members);

const objectRef = fc.record(
  {
    kind: fc.stringMatching(/^[A-Z][A-Za-z0-9]{1,20}$/),
    content_digest: digest,
    instance_id: instance,
  },
  { requiredKeys: ["kind", "content_digest"] },
);

/** Params of every method. */
const PARAMS = {
  [Method.Hello]: required({ core_version_range: required({ minimum: text, maximum: text }) }),
  [Method.Prepare]: fc.record(
    {
      resolved_plan_digest: digest,
      capability_token: text,
      approved_permissions: texts,
      fixture_refs: fc.array(objectRef, { maxLength: 3 }),
    },
    { requiredKeys: ["resolved_plan_digest", "capability_token", "approved_permissions"] },
  ),
  [Method.Capabilities]: fc.constantFrom({}, undefined),
  [Method.Invoke]: required({
    ...ids,
    operation: text,
    ephemeral_exact_input_handle: required({
      kind: fc.constantFrom("pipe", "socket", "memfd"),
      value: text,
    }),
  }),
  [Method.Cancel]: required({
    invocation_id: instance,
    reason: text,
    deadline_millis: count.map((millis) => Math.max(1, millis)),
  }),
  [Method.Reset]: fc.constantFrom({}, undefined),
  [Method.Shutdown]: fc.constantFrom({}, undefined),
  [Method.Observation]: fc
    .record({ ...ids, sequence: count, kind: text, monotonic_ns: count })
    .chain((params) =>
      fc.oneof(
        fc.constant(params),
        free.map((payload) => ({ ...params, payload })),
        text.map((stream_id) => ({ ...params, data_stream: { stream_id } })),
      ),
    ),
  [Method.Completed]: fc.record(
    {
      ...ids,
      status: fc.constantFrom(...Object.values(TerminalStatus)),
      summary_digest: digest,
      last_sequence: count,
    },
    { requiredKeys: ["invocation_id", "attempt_id", "status", "summary_digest"] },
  ),
} as const;

const NOTIFICATIONS: readonly string[] = [Method.Observation, Method.Completed];

function call(method: Method): fc.Arbitrary<object> {
  const params = PARAMS[method] as fc.Arbitrary<object | undefined>;
  return fc.record({ id, params }).map(({ id: own, params: given }) => ({
    jsonrpc: "2.0",
    method,
    ...(given !== undefined && { params: given }),
    ...(!NOTIFICATIONS.includes(method) && { id: own }),
  }));
}

const response = fc.record({ id, result: free }).map((members) => ({ jsonrpc: "2.0", ...members }));
const failure = fc
  .record({
    id,
    error: fc.record({
      code: fc.maxSafeInteger(),
      message: text,
      data: fc.record(
        { class: fc.constantFrom(...Object.values(ErrorClass)), details: free },
        { requiredKeys: ["class"] },
      ),
    }),
  })
  .map((members) => ({ jsonrpc: "2.0", ...members }));

/** Valid messages: of every method, and both kinds of response. */
export const messages: fc.Arbitrary<MessageInput> = fc.oneof(
  ...Object.values(Method).map(call),
  response,
  failure,
) as fc.Arbitrary<MessageInput>;
