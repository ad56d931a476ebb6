/** Longest piece of a line that is shown. */
const MAX_LENGTH = 4096;

/** Cuts a driver's standard error into lines, within bounds. */
export class StderrLines {
  readonly #decoder = new TextDecoder();
  readonly #show: (line: string) => void;
  readonly #hide: (line: string) => string;
  readonly #bound: number;
  #rest = "";
  #skipping = false;

  /**
   * @param show Gets each line, at most 4096 characters of it.
   * @param options `hide` blanks secrets, of which the longest has `longest` characters.
   */
  constructor(
    show: (line: string) => void,
    options: { readonly hide: (line: string) => string; readonly longest: number },
  ) {
    this.#show = show;
    this.#hide = options.hide;
    // A secret that begins within the shown part is whole within this.
    this.#bound = MAX_LENGTH + options.longest;
  }

  /** Takes bytes as they come. */
  push(chunk: Uint8Array): void {
    const lines = this.#decoder.decode(chunk, { stream: true }).split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) this.#end(line);
    if (!this.#skipping) this.#rest += rest;
    if (this.#rest.length > this.#bound) this.#cut();
  }

  /** Shows what came after the last line end. */
  flush(): void {
    if (this.#rest !== "") this.#end("");
  }

  #end(line: string): void {
    if (!this.#skipping) this.#print(this.#rest + line);
    this.#rest = "";
    this.#skipping = false;
  }

  /** What follows on this line is dropped. */
  #cut(): void {
    this.#print(this.#rest);
    this.#rest = "";
    this.#skipping = true;
  }

  #print(line: string): void {
    const hidden = this.#hide(line.slice(0, this.#bound).replace(/\r$/, ""));
    this.#show(hidden.length > MAX_LENGTH ? `${hidden.slice(0, MAX_LENGTH)}…` : hidden);
  }
}
