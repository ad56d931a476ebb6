import { SluiceError } from "../../errors.ts";

/** The data of an observation went by untaken: code `data_discarded`. */
export function dataDiscarded(): SluiceError {
  return new SluiceError(
    "data_discarded",
    "The data of this observation was discarded: take observation.data before asking for the next observation, or invoke with hold",
  );
}

/** Observations went by because nobody iterated: code `observations_discarded`. */
export function observationsDiscarded(discarded: number): SluiceError {
  return new SluiceError(
    "observations_discarded",
    `${discarded} observations were discarded because only run.completed was awaited: iterate before the run fills its queue or sends data`,
    { data: { discarded } },
  );
}

/** A consumer does not take what is held while others wait: code `budget_exceeded`. */
export function overrun(held: number, waits: readonly string[]): SluiceError {
  return new SluiceError(
    "budget_exceeded",
    `The run holds ${held} observations that its consumer does not take, while the session has to read on for ${waits.slice(0, 4).join(", ")}: take them meanwhile`,
    { data: { held, waits } },
  );
}
