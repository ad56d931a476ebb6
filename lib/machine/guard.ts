import { toSluiceError } from "../errors.ts";
import type { Stage } from "../stage/stage.ts";
import { mapStage } from "./map-stage.ts";
import type { Direction, StateMachine } from "./state-machine.ts";

/** Options of {@link guard}. */
export interface GuardOptions {
  /** Which way the messages of this pipe go. Default `in`. */
  readonly direction?: Direction;
}

/**
 * A stage that lets through what a state machine allows and moves it by each message.
 *
 * A refused message is a fault in place: what the machine threw, wrapped as `invalid_state` when it
 * is not a coded error. Messages of one batch move the machine before they are handed on.
 *
 * @param machine The machine; two guards of both directions may share it.
 */
export function guard<M>(machine: StateMachine<M>, options: GuardOptions = {}): Stage<M, M> {
  const direction = options.direction ?? "in";
  return mapStage(
    (message: M) => {
      machine.apply(message, direction);
      return message;
    },
    (thrown) =>
      toSluiceError(
        thrown,
        "invalid_state",
        `The state machine refused a message in state "${machine.state}"`,
      ),
  );
}
