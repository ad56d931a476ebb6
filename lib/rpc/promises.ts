/** For a rejection that somebody else reports. */
export function ignore(): void {}

/** A rejected promise that is marked as handled: nobody needs to look at it. */
export function rejected(reason: unknown): Promise<never> {
  return handled(Promise.reject(reason));
}

/** Marks a promise as handled, so that a rejection which nobody awaits stays silent. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

/** Tells whether a value can be waited for. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** Lets promise reactions that are due, and a few rounds of what they cause, run before going on. */
export async function settleReactions(): Promise<void> {
  for (let round = 0; round < REACTION_ROUNDS; round += 1) await Promise.resolve();
}

/** Enough for a few async functions around a call, each of which costs up to three rounds. */
const REACTION_ROUNDS = 12;
