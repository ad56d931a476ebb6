/** A host with one timer that keeps it alive and one, later, that does not. */
import process from "node:process";
import { nodeClock } from "../../../../adapters/node/node-clock.ts";

nodeClock.setTimer(() => process.stdout.write("kept\n"), 50, { keepAlive: true });
nodeClock.setTimer(() => process.stdout.write("not kept\n"), 1_000);
