import type { MessageCodec } from "../../rpc/codec.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import type { Stage } from "../../stage/stage.ts";
import { markCutFrames } from "./cut-frames.ts";

/** What passed over a session's control pipe. */
export interface SessionStats {
  readonly framesIn: number;
  readonly framesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Lines on stdout that were no frames. */
  readonly noiseLines: number;
}

/** Counts frames and bytes. */
export class Traffic {
  readonly stats = { framesIn: 0, framesOut: 0, bytesIn: 0, bytesOut: 0 };

  frame(direction: "in" | "out"): void {
    if (direction === "in") this.stats.framesIn += 1;
    else this.stats.framesOut += 1;
  }

  /** The same codec, with its bytes counted and the frame that the end cuts marked as such. */
  counted(codec: MessageCodec): MessageCodec {
    return {
      decoder: () => this.#countedStage(markCutFrames(codec.decoder())),
      encode: (message) => {
        const bytes = codec.encode(message);
        this.stats.bytesOut += bytes.length;
        return bytes;
      },
    };
  }

  #countedStage(stage: Stage<Uint8Array, RpcMessage>): Stage<Uint8Array, RpcMessage> {
    return {
      push: (inputs, sink) => {
        for (const chunk of inputs) this.stats.bytesIn += chunk.length;
        stage.push(inputs, sink);
      },
      end: (sink) => stage.end(sink),
    };
  }
}
