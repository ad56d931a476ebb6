import type { RpcId } from "./message.ts";

/** The ids of calls that were given up: bounded, the oldest dropped first. */
export class Tombstones {
  readonly #limit: number;
  readonly #ids = new Set<RpcId>();

  /** @param limit Most ids kept, at least 1. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  has(id: RpcId): boolean {
    return this.#ids.has(id);
  }

  add(id: RpcId): void {
    this.#ids.add(id);
    if (this.#ids.size <= this.#limit) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  /** @returns False when the id was not there. */
  delete(id: RpcId): boolean {
    return this.#ids.delete(id);
  }
}
