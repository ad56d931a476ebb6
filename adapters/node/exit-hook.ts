import process from "node:process";

const live = new Set<() => void>();

/**
 * Has `kill` called when the process exits, until it is taken back.
 *
 * However many are registered, the process has one `exit` listener for them; none when there is none.
 * The listener runs on `process.exit()`, on a natural end and after an uncaught error, not when a
 * signal ends the process.
 *
 * @param kill Ends one child's group; must be synchronous.
 * @returns Takes the registration back; may be called any number of times.
 */
export function onProcessExit(kill: () => void): () => void {
  // Wrapped, so that the same function registered twice is two registrations.
  const entry = (): void => kill();
  if (live.size === 0) process.on("exit", killAll);
  live.add(entry);
  return () => {
    if (live.delete(entry) && live.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const kill of live) {
    try {
      kill();
    } catch {
      // The next child matters more than why this one could not be ended.
    }
  }
}
