/** Ids that are over and whose late frames are dropped quietly; bounded, the oldest goes first. */
export class Tombstones {
  readonly #ids: Set<string> = new Set();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size > this.#limit) this.#ids.delete(this.#ids.values().next().value!);
  }
}
