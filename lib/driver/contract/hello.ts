import { type Infer, list, record } from "../../schema/schema.ts";
import { Capabilities } from "./capabilities.ts";
import { DriverIdentity } from "./identity.ts";
import { Permission, VersionRange } from "./shared.ts";

/** Params of `driver.hello`: the versions that the host speaks. */
export const HelloParams = record({ core_version_range: VersionRange });
/** Params of `driver.hello`: the versions that the host speaks. */
export type HelloParams = Infer<typeof HelloParams>;

/** Result of `driver.hello`: who the driver is and what it wants. */
export const HelloResult = record({
  driver_version_range: VersionRange,
  identity: DriverIdentity,
  capabilities: Capabilities,
  requested_permissions: list(Permission),
});
/** Result of `driver.hello`: who the driver is and what it wants. */
export type HelloResult = Infer<typeof HelloResult>;
