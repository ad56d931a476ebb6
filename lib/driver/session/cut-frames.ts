import { SluiceError } from "../../errors.ts";
import type { RpcMessage } from "../../rpc/message.ts";
import type { Sink, Stage } from "../../stage/stage.ts";

/** The code of the fault of a line that the end of the input cut: the end says more than the line does. */
export const CUT_FRAME = "cut_control_frame";

/** What the beginning of a good frame can look like. */
const CUTS = new Set(["syntax", "invalid_utf8"]);

/** Where the last line has no end and is no JSON, its fault gets the code {@link CUT_FRAME} and becomes its cause. */
export function markCutFrames(stage: Stage<Uint8Array, RpcMessage>): Stage<Uint8Array, RpcMessage> {
  return {
    push: (inputs, sink) => stage.push(inputs, sink),
    end: (sink) => stage.end(cutting(sink)),
  };
}

function cutting(sink: Sink<RpcMessage>): Sink<RpcMessage> {
  return {
    get open() {
      return sink.open;
    },
    next: (outputs) => sink.next(outputs),
    fail: (fault) => sink.fail(CUTS.has(fault.code) ? cutFrame(fault) : fault),
  };
}

function cutFrame(fault: SluiceError): SluiceError {
  return new SluiceError(CUT_FRAME, "The input ended inside a frame", {
    data: fault.data,
    cause: fault,
  });
}
