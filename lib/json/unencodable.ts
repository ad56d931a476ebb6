import { SluiceError } from "../errors.ts";
import { jsonPointer, type PathStep } from "./json-fault.ts";

/** Why a value has no canonical JSON text; `data.reason` of an `unencodable` error. */
export const UnencodableReason = {
  Undefined: "undefined",
  NotFinite: "not_finite",
  BigInt: "bigint",
  Function: "function",
  Symbol: "symbol",
  NotPlain: "not_plain",
  LoneSurrogate: "lone_surrogate",
  Cycle: "cycle",
  Depth: "depth",
} as const;
/** One of the reasons for which a value cannot be encoded. */
export type UnencodableReason = (typeof UnencodableReason)[keyof typeof UnencodableReason];

const PHRASES: Record<UnencodableReason, string> = {
  undefined: "is undefined",
  not_finite: "is a number that is not finite",
  bigint: "is a BigInt",
  function: "is a function",
  symbol: "is a symbol",
  not_plain: "is neither a plain object nor an array and has no toJSON method",
  lone_surrogate: "holds an unpaired surrogate",
  cycle: "contains itself",
  depth: "is nested too deeply",
};

/** Makes the error for a value that has no JSON text. */
export function unencodable(reason: UnencodableReason, path: readonly PathStep[]): SluiceError {
  const pointer = jsonPointer(path);
  const place = pointer === "" ? "The value" : `The value at ${pointer.slice(0, 80)}`;
  return new SluiceError(
    "unencodable",
    `${place} cannot be encoded as JSON: it ${PHRASES[reason]}`,
    {
      data: { path: pointer, reason },
    },
  );
}
