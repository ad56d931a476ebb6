/**
 * Where this kit refuses what the reference accepts: notes of the behaviour's description (§14) that
 * vectors carry with `"kit": "stricter"`. A vector of any other note must come out as in the reference.
 */
export const DEVIATIONS: { readonly [note: string]: string } = {
  S1: "ids and protocol integers beyond ±(2^53−1) are refused, never rounded",
  S2: "member names match exactly; another spelling is an unknown member",
  S3b: "an empty or null method and a null error are refused",
  S3c: "a null element of a list of strings is refused",
  S4: "a missing or null required number, flag or object is refused",
  S5: "an unpaired surrogate escape is refused, in names and values",
  S7: "null is refused where an object is expected",
};
