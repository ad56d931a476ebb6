/** Which way a message went: `in` came from the peer, `out` goes to it. */
export type Direction = "in" | "out";

/**
 * The port of a protocol's state machine: anything of this shape can guard a pipe or a Peer.
 *
 * `apply` moves the machine by one message or throws, and then nothing has changed.
 */
export interface StateMachine<M> {
  /** The name of the present state. */
  readonly state: string;
  /** Takes one message; throws when it is not allowed now. */
  apply(message: M, direction: Direction): void;
}
