/**
 * Strict JSON in, canonical JSON out: a parser that refuses what parsers disagree about, RFC 8785
 * text, and digests of it.
 *
 * @module
 */
export { canonicalBytes, canonicalJson } from "./canonical-json.ts";
export { canonicalDigest, createSha256, sha256Digest, type Sha256 } from "./digest.ts";
export { JsonErrorCode } from "./json-fault.ts";
export { parseJson, type ParseJsonOptions } from "./parse-json.ts";
export { RawJson, rawJson } from "./raw-json.ts";
export { strictJson } from "./strict-json.ts";
export { UnencodableReason } from "./unencodable.ts";
export type { JsonObject, JsonValue } from "./value.ts";
