import { canonicalJson } from "../json/canonical-json.ts";
import { createSha256, sha256Digest } from "../json/digest.ts";
import type { JsonValue } from "../json/value.ts";

/** The capability by which a driver says that its summary digest follows this rule. */
export const SUMMARY_PROTOCOL = "sluice.summary.v1";

/** What of an observation goes into the summary. */
export interface SummaryObservation {
  readonly kind: string;
  readonly payload?: JsonValue | undefined;
  readonly sequence: number;
  readonly stream?: string | undefined;
}

/** How a stream of the driver ended. */
export interface SummaryStream {
  readonly end: "final" | "abort";
  readonly id: string;
  /** Bytes actually sent. */
  readonly length: number;
  /** sha256 of them, lower-case hex. */
  readonly sha256: string;
}

/**
 * The summary digest of an invocation (host-v1 §3): one running hash over its observations in order,
 * one over its streams in the order in which they ended, and the digest of both.
 */
export class Summary {
  readonly #observations = createSha256();
  readonly #streams = createSha256();

  /** Adds an observation. */
  observe(observation: SummaryObservation): void {
    this.#observations.update(`${canonicalJson(observation)}\n`);
  }

  /** Adds a stream that ended. */
  streamEnded(stream: SummaryStream): void {
    this.#streams.update(`${canonicalJson(stream)}\n`);
  }

  /** The digest, `sha256:…`; called once, at the end. */
  digest(): string {
    return sha256Digest(`${this.#observations.digestHex()}\n${this.#streams.digestHex()}\n`);
  }
}
