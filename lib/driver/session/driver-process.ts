import type { ExitStatus } from "../../process/child-handle.ts";
import type { LadderResult } from "../../process/ladder.ts";
import type { StderrTail } from "../../process/stderr-tail.ts";

/** The port of the process behind a session, where there is one. */
export interface DriverProcess {
  readonly pid: number;
  /** Never rejects. */
  readonly exited: Promise<ExitStatus>;
  readonly tail: StderrTail;
  /** Ends it by the ladder, from this rung on; never rejects, and can be called again with a later rung. */
  end(startAt: "stdin" | "SIGTERM" | "SIGKILL"): Promise<LadderResult>;
  /** Closes what is left of its pipes, once they were read. */
  release(): void;
}
