import { Console } from "node:console";
import process from "node:process";

/** The write function of standard output as it was before the guard. */
export type RawWrite = (chunk: Uint8Array, done: (error?: Error | null) => void) => void;

/** What holds standard output for frames. */
export interface StdoutGuard {
  /** Writes to the real standard output. */
  readonly write: RawWrite;
  /** Gives `console` and `process.stdout` back as they were. */
  release(): void;
}

/**
 * Sends `console.*` and `process.stdout.write` to standard error until released.
 *
 * Code that writes to descriptor 1 by number is out of reach.
 */
export function guardStdout(): StdoutGuard {
  const { stdout, stderr } = process;
  const own = Object.getOwnPropertyDescriptor(stdout, "write");
  const raw = stdout.write.bind(stdout);
  Object.defineProperty(stdout, "write", {
    value: stderr.write.bind(stderr),
    configurable: true,
    writable: true,
  });
  const giveConsoleBack = replaceConsole(new Console({ stdout: stderr, stderr }));
  return {
    write: (chunk, done) => void raw(chunk, done),
    release() {
      giveConsoleBack();
      if (own === undefined) Reflect.deleteProperty(stdout, "write");
      else Object.defineProperty(stdout, "write", own);
    },
  };
}

/** Some runtimes' console writes to the descriptor itself, so each method is replaced, not the stream alone. */
function replaceConsole(substitute: Console): () => void {
  const saved = new Map<string, PropertyDescriptor>();
  const methods = {
    ...substitute,
    write: (text: string | Uint8Array) => process.stderr.write(text),
  };
  for (const [name, method] of Object.entries(methods)) {
    const own = Object.getOwnPropertyDescriptor(globalThis.console, name);
    if (
      own?.configurable !== true ||
      typeof own.value !== "function" ||
      typeof method !== "function"
    )
      continue;
    saved.set(name, own);
    Object.defineProperty(globalThis.console, name, { ...own, value: method });
  }
  return () => {
    for (const [name, own] of saved) Object.defineProperty(globalThis.console, name, own);
  };
}
