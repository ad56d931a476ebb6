import { type Infer, optional, record, text } from "../../schema/schema.ts";
import { Digest } from "./shared.ts";

/** At least one character that is not Unicode white space (U+FEFF is not white space here). */
const notBlank = text({
  pattern: "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]",
});

/** Pins every executable and client that can matter for an observation (driver protocol v1 §6). */
export const DriverIdentity = record(
  {
    name: notBlank,
    version: notBlank,
    sdk_name: optional(text()),
    sdk_version: optional(text()),
    client_name: optional(text()),
    client_version: optional(text()),
    runtime_name: notBlank,
    runtime_version: notBlank,
    os: notBlank,
    architecture: notBlank,
    artifact_digest: Digest,
    lockfile_digest: optional(Digest),
  },
  {
    dependentRequired: {
      sdk_name: ["sdk_version"],
      sdk_version: ["sdk_name"],
      client_name: ["client_version"],
      client_version: ["client_name"],
    },
  },
);
/** Pins every executable and client that can matter for an observation. */
export type DriverIdentity = Infer<typeof DriverIdentity>;
