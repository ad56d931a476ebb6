/** The command was called wrongly: what, where and what to do, in one sentence without a final period. */
export class UsageError extends Error {
  /** The verb whose help tells more, when one was given. */
  readonly verb: string | undefined;

  constructor(message: string, verb?: string) {
    super(message);
    this.name = "UsageError";
    this.verb = verb;
  }
}
