/* oxlint-disable no-console -- what a console call does is the point */
/** A driver on stdio(), in the ways that its argument names. */
import process from "node:process";
import { isSluiceError } from "../../../../lib/errors.ts";
import { stdio } from "../../../../adapters/node/stdio.ts";

const mode = process.argv[2];
const duplex = stdio({ guard: mode !== "unguarded" });
const writer = duplex.writable.getWriter();
const frame = (text: string): Promise<void> => writer.write(new TextEncoder().encode(text));

const codeOf = (error: unknown): string => (isSluiceError(error) ? error.code : String(error));

async function noisy(): Promise<void> {
  await frame("[frame1]");
  console.log("log");
  console.info("info");
  console.debug("debug");
  console.table([1]);
  console.dir({ dir: 1 });
  process.stdout.write("plain\n");
  console.error("error");
  await frame("[frame2]");
}

switch (mode) {
  case "large":
    await frame("x".repeat(300_000));
    process.exit(0);
    break;
  case "noisy":
  case "unguarded":
    await noisy();
    process.exit(0);
    break;
  case "release":
    await frame("[frame]");
    duplex.release();
    duplex.release();
    console.log("log");
    process.stdout.write("plain\n");
    break;
  case "echo":
    for await (const chunk of duplex.readable) await writer.write(chunk);
    await writer.close();
    process.stderr.write("end of input\n");
    break;
  case "cancel":
    await duplex.readable.cancel();
    await frame("cancelled");
    break;
  case "gone": {
    for (let round = 0; round < 100; round += 1) {
      const code = await frame("y".repeat(1000)).then(() => undefined, codeOf);
      if (code !== undefined) {
        process.stderr.write(`${code}\n`);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    break;
  }
  case "twice":
    try {
      stdio();
    } catch (error) {
      process.stderr.write(`${codeOf(error)}\n`);
    }
    duplex.release();
    stdio().release();
    break;
}
