import { type Infer, list, optional, record, text } from "../../schema/schema.ts";
import { Digest, ObjectRef, Permission } from "./shared.ts";

/** Params of `driver.prepare`; the capability token is a secret and is never stored. */
export const PrepareParams = record({
  resolved_plan_digest: Digest,
  capability_token: text({ minLength: 1 }),
  fixture_refs: optional(list(ObjectRef)),
  approved_permissions: list(Permission),
});
/** Params of `driver.prepare`; the capability token is a secret and is never stored. */
export type PrepareParams = Infer<typeof PrepareParams>;

/** Result of `driver.prepare`: the permissions that the driver takes. */
export const PrepareResult = record({ accepted_permissions: list(Permission) });
/** Result of `driver.prepare`: the permissions that the driver takes. */
export type PrepareResult = Infer<typeof PrepareResult>;
