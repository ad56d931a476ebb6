import type { JsonValue } from "../../json/value.ts";
import type { Schema } from "../../schema/schema.ts";
import { isSluiceError } from "../../errors.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { HelloResult } from "../contract/hello.ts";
import type { DriverIdentity } from "../contract/identity.ts";
import { Method } from "../contract/method.ts";
import { PrepareParams, PrepareResult } from "../contract/prepare.ts";
import { ProtocolError, protocolError } from "../contract/protocol-error.ts";
import { readRecord } from "../contract/validate.ts";
import { checkPermissions } from "../permissions.ts";
import { agreeVersion } from "../versions.ts";
import type { Link } from "./link.ts";
import type { DriverOptions } from "./options.ts";
import { ProtocolFault, startTimeout } from "./reasons.ts";

/** What the hello settled. */
export interface Hello {
  readonly result: HelloResult;
  readonly version: string;
}

const OWN_VERSIONS = { minimum: "1.0.0", maximum: "1.0.0" };

/**
 * Says hello and judges the answer; an error ends the session.
 *
 * @throws {ProtocolError} `unsupported_rpc_version`, `artifact_mismatch`, `permission_denied`, the driver's refusal.
 * @throws {ProtocolFault} When the answer does not fit its contract.
 * @throws {SluiceError} `start_timeout`, or the reason why the session ended.
 */
export async function sayHello(link: Link, options: DriverOptions): Promise<Hello> {
  const versions = options.versions ?? OWN_VERSIONS;
  const answer = await hello(link, versions);
  const result = readResult(HelloResult, answer, Method.Hello);
  const version = agreeVersion(versions, result.driver_version_range, options.selectVersion);
  checkIdentity(result.identity, options.expectIdentity ?? {});
  checkPermissions(result.requested_permissions, undefined, "Permissions that the driver requests");
  link.lifecycle.acceptHello();
  return { result, version };
}

async function hello(link: Link, versions: object): Promise<JsonValue> {
  const { startTimeout: timeout } = link.limits;
  try {
    return await link.call(Method.Hello, { core_version_range: versions }, timeout);
  } catch (error) {
    if (!isSluiceError(error, "request_timeout")) throw error;
    throw startTimeout(timeout, link.process?.tail.text({ maxBytes: 2048 }) ?? "");
  }
}

/** What the caller of `prepare` gives. */
export interface PrepareOptions {
  /** Digest of the approved plan, `sha256:…`. */
  readonly planDigest: string;
  /** A secret of this session; it goes to the driver and nowhere else. */
  readonly capabilityToken: string;
  /** The permissions granted, among those that the driver requested. Default: none. */
  readonly permissions?: readonly string[] | undefined;
  readonly fixtureRefs?: PrepareParams["fixture_refs"];
}

/**
 * Prepares the driver; an error of the driver's ends the session.
 *
 * @returns The permissions that the driver accepted.
 * @throws {ProtocolError} `permission_denied` before anything is sent when more is granted than was requested.
 */
export async function prepare(
  link: Link,
  options: PrepareOptions,
  requested: readonly string[],
): Promise<readonly string[]> {
  const { planDigest, capabilityToken, permissions = [], fixtureRefs } = options;
  checkPermissions(permissions, requested, "Approved permissions");
  const params: PrepareParams = {
    resolved_plan_digest: planDigest,
    capability_token: capabilityToken,
    approved_permissions: permissions,
    ...(fixtureRefs !== undefined && { fixture_refs: fixtureRefs }),
  };
  const answer = await link.call(Method.Prepare, params);
  const { accepted_permissions: accepted } = readResult(PrepareResult, answer, Method.Prepare);
  checkPermissions(accepted, permissions, "Accepted permissions");
  link.lifecycle.acceptPrepare();
  return accepted;
}

/** Reads the result of a call. @throws {ProtocolFault} When it does not fit its contract. */
export function readResult<T>(schema: Schema<T>, result: JsonValue, method: Method): T {
  try {
    return readRecord(schema, result, ErrorClass.InvalidRequest);
  } catch (error) {
    throw new ProtocolFault(protocolError(ErrorClass.InvalidRequest, error, `result of ${method}`));
  }
}

function checkIdentity(identity: DriverIdentity, expected: Partial<DriverIdentity>): void {
  for (const [name, value] of Object.entries(expected)) {
    const got = identity[name as keyof DriverIdentity];
    if (value === undefined || got === value) continue;
    throw new ProtocolError(
      ErrorClass.ArtifactMismatch,
      `Driver's ${name} is ${JSON.stringify(got ?? null)}, but ${JSON.stringify(value)} was expected`,
      { data: { member: name } },
    );
  }
}
