import type { Amount } from "./format.ts";
import type { SessionOutcome } from "./session-types.ts";

/** What all operations of a session took together. */
export function totals({ results }: Pick<SessionOutcome, "results">): Amount {
  return results.reduce<Amount>(
    (sum, { observations, bytes, milliseconds }) => ({
      observations: sum.observations + observations,
      bytes: sum.bytes + bytes,
      milliseconds: sum.milliseconds + milliseconds,
    }),
    { observations: 0, bytes: 0, milliseconds: 0 },
  );
}
