import type { ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";
import type { Readable, Writable } from "node:stream";
import type { ChildHandle, ExitStatus, KillSignal } from "../../lib/process/child-handle.ts";
import type { ByteDuplex } from "../../lib/streams/duplex.ts";
import { onProcessExit } from "./exit-hook.ts";
import { bridgeDuplex, bridgeReadable, bridgeWritable } from "./node-streams.ts";
import { ProcessGroup } from "./process-group.ts";

/** A child as `spawn()` gives it. */
export interface SpawnedChild extends ChildHandle {
  /** The host's end of descriptor 3, when one was asked for. */
  readonly channel: ByteDuplex | undefined;
}

/** The {@link ChildHandle} of a `node:child_process` child that leads its own process group. */
export class NodeChild implements SpawnedChild {
  readonly pid: number;
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly channel: ByteDuplex | undefined;
  readonly exited: Promise<ExitStatus>;
  readonly #process: ChildProcess;
  readonly #group: ProcessGroup;

  private constructor(process: ChildProcess, pid: number) {
    this.pid = pid;
    this.#process = process;
    const { stdin, stdout, stderr } = pipesOf(process);
    this.readable = bridgeReadable(stdout).readable;
    this.writable = bridgeWritable(stdin).writable;
    this.stderr = bridgeReadable(stderr).readable;
    const channel = process.stdio[3];
    this.channel = channel instanceof Duplex ? bridgeDuplex(channel) : undefined;
    const forget = onProcessExit(() => this.kill("SIGKILL"));
    this.#group = new ProcessGroup(pid, forget);
    this.exited = new Promise((resolve) => {
      // Not "close": that one waits for everybody who holds the pipes.
      process.once("exit", (code, signal) => {
        this.#group.leaderExited();
        resolve({ code, signal });
      });
    });
  }

  /** Waits until the system has started the child; rejects with the runtime's error when it could not. */
  static started(process: ChildProcess): Promise<NodeChild> {
    return new Promise((resolve, reject) => {
      // Stays attached: a late error of the process object must not end the host.
      process.on("error", (error) => {
        if (process.pid === undefined) for (const pipe of process.stdio) pipe?.destroy();
        reject(error);
      });
      if (process.pid === undefined) return;
      // Built at once, so that no pipe is ever without its listeners.
      const child = new NodeChild(process, process.pid);
      process.once("spawn", () => resolve(child));
    });
  }

  kill(signal: KillSignal): boolean {
    return this.#group.kill(signal);
  }

  release(): void {
    for (const pipe of this.#process.stdio) pipe?.destroy();
    this.#process.unref();
  }
}

interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

function pipesOf({ stdin, stdout, stderr }: ChildProcess): Pipes {
  if (stdin === null || stdout === null || stderr === null) {
    throw new TypeError("The child must be started with pipes as stdin, stdout and stderr");
  }
  return { stdin, stdout, stderr };
}
