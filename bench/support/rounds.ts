/* oxlint-disable no-console -- a bench prints */
import process from "node:process";
import { Bench } from "tinybench";

const ROUNDS = Number(process.argv[2] ?? 15);

/** A task reads its input once and returns a sum over all frames, so that nothing is optimised away. */
export type Task = () => number | Promise<number>;

/** Tasks that must give the same sum; the first is what the others are measured against. */
export type Scenario = Readonly<Record<string, Task>>;

/** Runs every scenario and prints its ratios, then the versions. */
export async function reportAll(scenarios: Readonly<Record<string, Scenario>>): Promise<void> {
  for (const [name, scenario] of Object.entries(scenarios)) await report(name, scenario);
  const { node, deno, bun, v8 } = process.versions as Readonly<Record<string, string>>;
  console.log(JSON.stringify({ node, deno, bun, v8, rounds: ROUNDS }));
}

/** Runs the tasks of a scenario in turns and prints each one's speed over the first one's. */
async function report(name: string, scenario: Scenario): Promise<void> {
  const names = Object.keys(scenario);
  const expected = await scenario[names[0]!]!();
  const best = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const bench = new Bench({ time: 0, iterations: 3, warmup: round === 0, warmupTime: 200 });
    for (let k = 0; k < names.length; k += 1) {
      const task = names[(k + round) % names.length]!;
      bench.add(task, async () => {
        if ((await scenario[task]!()) !== expected) throw new Error(`${task} gives another sum`);
      });
    }
    await bench.run();
    for (const { name: task, result } of bench.tasks) {
      if (result.state !== "completed") throw new Error(`${task} did not run`);
      best.set(task, Math.min(best.get(task) ?? Infinity, result.latency.min));
    }
  }
  console.log(`\n${name}`);
  for (const [task, time] of best)
    console.log(`  ${(best.get(names[0]!)! / time).toFixed(2)}  ${task}`);
}
