/** How much a stream's sender may send, and what that leaves to its receiver to hold. */
export interface Flow {
  /** Whether the sender can send nothing more before the consumer takes bytes. */
  readonly full: boolean;
  /** A payload of this size begins; false when it may not. */
  spend(bytes: number): boolean;
  /** Bytes are held for the consumer. */
  hold(bytes: number): void;
  /** Bytes are held no longer. */
  release(bytes: number): void;
  /** Bytes to grant now, 0 for none; they count as granted. */
  grant(): number;
}

/** The flow of a sender that obeys credit: what it may send and what is held never exceed the window. */
export class CreditFlow implements Flow {
  readonly #window: number;
  #outstanding = 0;
  #held = 0;

  constructor(window: number) {
    this.#window = window;
  }

  get full(): boolean {
    return this.#outstanding === 0;
  }

  spend(bytes: number): boolean {
    if (bytes > this.#outstanding) return false;
    this.#outstanding -= bytes;
    // Counted as held from here on, so that a frame under way is not granted a second time.
    this.#held += bytes;
    return true;
  }

  hold(): void {}

  release(bytes: number): void {
    this.#held -= bytes;
  }

  grant(): number {
    const free = this.#window - this.#outstanding - this.#held;
    if (free < Math.max(1, this.#window / 2)) return 0;
    this.#outstanding += free;
    return free;
  }
}

/** The flow of a sender that knows no credit: it is stopped only by not reading the channel. */
export class SerialFlow implements Flow {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get full(): boolean {
    return this.#held >= this.#limit;
  }

  spend(): boolean {
    return true;
  }

  hold(bytes: number): void {
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }

  grant(): number {
    return 0;
  }
}
