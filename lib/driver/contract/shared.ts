import { type Infer, integer, optional, record, text } from "../../schema/schema.ts";

/** A UUID of version 7 in lower case (driver protocol v1 §4). */
export const InstanceId = text({
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
});
/** A UUID of version 7 in lower case. */
export type InstanceId = Infer<typeof InstanceId>;

/** A content digest: `sha256:` and 64 lower-case hex digits. */
export const Digest = text({ pattern: "^sha256:[0-9a-f]{64}$" });
/** A content digest: `sha256:` and 64 lower-case hex digits. */
export type Digest = Infer<typeof Digest>;

/** A typed reference to content. */
export const ObjectRef = record({
  kind: text({ pattern: "^[A-Z][A-Za-z0-9]{1,63}$" }),
  instance_id: optional(InstanceId),
  content_digest: Digest,
});
/** A typed reference to content. */
export type ObjectRef = Infer<typeof ObjectRef>;

/** An inclusive range of versions; both ends are non-empty, their order is the session's to judge. */
export const VersionRange = record({
  minimum: text({ minLength: 1 }),
  maximum: text({ minLength: 1 }),
});
/** An inclusive range of versions. */
export type VersionRange = Infer<typeof VersionRange>;

/** Names a permission of the sandbox; the codec takes any string, the session judges sets of them. */
export const Permission = text();
/** Names a permission of the sandbox. */
export type Permission = Infer<typeof Permission>;

/** A protocol integer: beyond 2^53−1 it is refused, never rounded. */
export const uint53 = integer(0, Number.MAX_SAFE_INTEGER);

/** A 32-bit count. */
export const uint32 = integer(0, 2 ** 32 - 1);

/** A clock reading in nanoseconds; read as a double, so above 2^53 it may be off by some nanoseconds. */
export const nanoseconds = integer(0, 2 ** 64 - 2048);
