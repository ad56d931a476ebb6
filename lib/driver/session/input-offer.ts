import type { ByteSource } from "../companion/mod.ts";
import type { ExactInputHandle } from "../contract/invoke.ts";

/** An input that waits at an address for one reader. */
export interface InputOffer {
  readonly handle: ExactInputHandle;
  /** Resolves with the bytes sent once all were taken; rejects when they were not. Marked as handled. */
  readonly sent: Promise<number>;
  /** Takes the offer back and ends a transfer under way; may be called any number of times. */
  withdraw(reason: unknown): void;
}

/** Offers an input to a driver that has no companion channel; adapters give it. */
export type OfferInput = (source: ByteSource) => Promise<InputOffer>;
