/**
 * Lets the event loop turn once, so that what came in meanwhile is seen.
 *
 * No timer: it costs microseconds, and no clock has to move for it.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
