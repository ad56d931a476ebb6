/** Calls back code of the embedder's, where there is any; what it throws is ignored: it does not decide about a session. */
export function tell<A>(callback: ((told: A) => void) | undefined, told: A): void {
  try {
    callback?.(told);
  } catch {
    // Documented at each of these callbacks.
  }
}
