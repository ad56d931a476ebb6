import { blockParts } from "../../../../lib/driver/companion/block-parts.ts";
import type { ControlBlock } from "../../../../lib/driver/companion/contract.ts";
import {
  encodeControlBlock,
  encodeDataFrame,
} from "../../../../lib/driver/companion/encode-block.ts";
import type { DataFrameHeader } from "../../../../lib/driver/contract/data-frame-header.ts";
import { isSluiceError, type SluiceError } from "../../../../lib/errors.ts";
import { concat } from "../../../../lib/bytes/concat.ts";

/** A data frame in one piece. */
export interface DataFrame {
  readonly header: DataFrameHeader;
  readonly payload: Uint8Array;
}

/** A whole block, or the two of a data frame. */
export type Block = ControlBlock | DataFrame;

/** Bytes of blocks, one after the other. */
export function encodeBlocks(blocks: readonly Block[]): Uint8Array<ArrayBuffer> {
  return concat(
    blocks.map((block) =>
      "header" in block ? encodeDataFrame(block.header, block.payload) : encodeControlBlock(block),
    ),
  );
}

/** Puts the parts of blocks together as they come. */
export class BlockReader {
  readonly blocks: Block[] = [];
  fault: SluiceError | undefined;
  readonly #stage;
  #header: DataFrameHeader | undefined;
  #payload: Uint8Array[] = [];

  constructor(maxFrameBytes = 262_144) {
    this.#stage = blockParts(maxFrameBytes);
  }

  push(chunk: Uint8Array): void {
    this.#attempt(() => this.#stage.push([chunk], this.#sink));
  }

  end(): void {
    this.#attempt(() => this.#stage.end(this.#sink));
  }

  readonly #sink = {
    open: true,
    next: (
      parts: readonly import("../../../../lib/driver/companion/block-parts.ts").BlockPart[],
    ) => {
      for (const part of parts) {
        if (part.kind === "control") this.blocks.push(part.block);
        else if (part.kind === "header") this.#header = part.header;
        else {
          this.#payload.push(part.bytes.slice());
          if (!part.last) continue;
          this.blocks.push({ header: this.#header!, payload: concat(this.#payload) });
          this.#payload = [];
        }
      }
    },
    fail: (fault: SluiceError) => {
      throw fault;
    },
  };

  #attempt(action: () => void): void {
    if (this.fault !== undefined) return;
    try {
      action();
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      this.fault = error;
    }
  }
}
