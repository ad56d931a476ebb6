/** A host that starts a driver with a grandchild, prints both ids, and then ends as its argument says. */
import process from "node:process";
import { nodeClock } from "../../../../adapters/node/node-clock.ts";
import { spawn } from "../../../../adapters/node/spawn.ts";
import { DEFAULT_LIMITS } from "../../../../lib/limits.ts";
import { endChild } from "../../../../lib/process/ladder.ts";

const child = await spawn(["sh", "-c", "sleep 30 & echo $!; cat >/dev/null; wait"]);
const reader = child.readable.getReader();
const { value } = await reader.read();
process.stdout.write(`${child.pid} ${new TextDecoder().decode(value).trim()}\n`);

switch (process.argv[2]) {
  case "exit":
    process.exit(7);
    break;
  case "throw":
    throw new Error("host bug");
  default: {
    const { rungs } = await endChild(child, {
      clock: nodeClock,
      limits: { ...DEFAULT_LIMITS, stdinTimeout: 50 },
    });
    const listeners = process.listenerCount("exit");
    process.stdout.write(`${rungs.join(",")} ${listeners}\n`);
    // Nothing more: the event loop must find nothing that keeps it.
  }
}
