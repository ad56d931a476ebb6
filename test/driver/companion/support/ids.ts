import type { InvocationIds, StreamIds } from "../../../../lib/driver/companion/mod.ts";

/** The invocation that most tests use. */
export const RUN: InvocationIds = {
  invocation_id: "0190a3c4-7b2e-7c11-8f00-000000000001",
  attempt_id: "0190a3c4-7b2e-7c11-9f00-000000000001",
};

/** Another one. */
export const OTHER: InvocationIds = {
  invocation_id: "0190a3c4-7b2e-7c11-8f00-000000000002",
  attempt_id: "0190a3c4-7b2e-7c11-9f00-000000000002",
};

/** Names a stream of an invocation. */
export function stream(id: string, run: InvocationIds = RUN): StreamIds {
  return { ...run, stream_id: id };
}
