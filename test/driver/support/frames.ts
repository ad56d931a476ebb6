import type { DriverIdentity } from "../../../lib/driver/contract/identity.ts";
import type { Capabilities } from "../../../lib/driver/mod.ts";

/** A digest that is as good as any. */
export const DIGEST: string = `sha256:${"a1".repeat(32)}`;

/** The instance id number `n`. */
export function instanceId(n: number): string {
  return `0190a1b2-c3d4-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

export const IDENTITY: DriverIdentity = {
  name: "scripted",
  version: "1.2.3",
  runtime_name: "test",
  runtime_version: "1",
  os: "any",
  architecture: "any",
  artifact_digest: DIGEST,
};

export const CAPABILITIES: Capabilities = {
  protocols: [],
  operations: [],
  streaming: true,
  cancellation: true,
  retry_observed: false,
  concurrency: false,
  max_concurrency: 1,
};

export const VERSIONS = { minimum: "1.0.0", maximum: "1.0.0" };

/** The result of a good hello. */
export function helloResult(more: object = {}): Record<string, unknown> {
  return {
    driver_version_range: VERSIONS,
    identity: IDENTITY,
    capabilities: CAPABILITIES,
    requested_permissions: ["net", "disk"],
    ...more,
  };
}

export const PLAN = { planDigest: DIGEST, capabilityToken: "token-token" };

/** Params of a good `driver.prepare`. */
export const PREPARE = {
  resolved_plan_digest: DIGEST,
  capability_token: "token-token",
  approved_permissions: [] as string[],
};

/** Params of a good `driver.invoke`. */
export function invokeParams(n = 1, more: object = {}): Record<string, unknown> {
  return {
    invocation_id: instanceId(n),
    attempt_id: instanceId(n + 0x1000),
    operation: "op",
    ephemeral_exact_input_handle: { kind: "pipe", value: "/dev/null" },
    ...more,
  };
}

/** The ids of an invocation, as frames name it. */
export interface Ids {
  readonly invocation_id: string;
  readonly attempt_id: string;
}

/** An observation of an invocation. */
export function observation(ids: Ids, sequence: number, more: object = {}): object {
  const { invocation_id, attempt_id } = ids;
  return {
    method: "driver.observation",
    params: { invocation_id, attempt_id, sequence, kind: "k", monotonic_ns: 1, ...more },
  };
}

/** The completion of an invocation; `last` is its last sequence. */
export function completed(ids: Ids, last?: number, more: object = {}): object {
  const { invocation_id, attempt_id } = ids;
  return {
    method: "driver.completed",
    params: {
      invocation_id,
      attempt_id,
      status: "completed",
      summary_digest: DIGEST,
      ...(last !== undefined && { last_sequence: last }),
      ...more,
    },
  };
}

/** An error object of this class. */
export function errorOf(errorClass: string, message = "no"): object {
  return { code: -1, message, data: { class: errorClass } };
}
