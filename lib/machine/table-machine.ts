import { SluiceError } from "../errors.ts";
import type { Direction, StateMachine } from "./state-machine.ts";

/** What {@link tableMachine} is built from. */
export interface TableMachineOptions<M, S extends string = string> {
  /** The state to start in. */
  readonly initial: NoInfer<S>;
  /** For each state the events it allows and the state that follows; `{}` for a final state. */
  readonly transitions: { readonly [State in S]: { readonly [event: string]: NoInfer<S> } };
  /** Names the event that a message is; undefined for a message that the machine lets pass as it is. */
  readonly eventOf: (message: M, direction: Direction) => string | undefined;
}

/** Most characters of an event's name and most events that an error shows. */
const MAX_NAME = 64;
const MAX_SHOWN = 16;

/**
 * Builds a {@link StateMachine} from a table of transitions.
 *
 * Its `apply` throws `invalid_state`, with `data` `{state, event, allowed}`, and then stays as it was.
 *
 * @throws {RangeError} When the initial state or a target is not a state of the table.
 */
export function tableMachine<M, S extends string = string>(
  options: TableMachineOptions<M, S>,
): StateMachine<M> & { readonly state: S } {
  return new TableMachine(options.initial, readTable<S>(options.transitions), options.eventOf);
}

type Table<S> = ReadonlyMap<S, ReadonlyMap<string, S>>;

class TableMachine<M, S extends string> implements StateMachine<M> {
  readonly #table: Table<S>;
  readonly #eventOf: (message: M, direction: Direction) => string | undefined;
  #state: S;

  constructor(
    initial: S,
    table: Table<S>,
    eventOf: (message: M, direction: Direction) => string | undefined,
  ) {
    requireState(table, initial, "The initial state");
    this.#state = initial;
    this.#table = table;
    this.#eventOf = eventOf;
  }

  get state(): S {
    return this.#state;
  }

  apply(message: M, direction: Direction): void {
    const event = this.#eventOf(message, direction);
    if (event === undefined) return;
    const next = this.#table.get(this.#state)?.get(event);
    if (next === undefined) throw this.#refusal(event);
    this.#state = next;
  }

  #refusal(event: string): SluiceError {
    const state = this.#state;
    const allowed = [...(this.#table.get(state)?.keys() ?? [])].slice(0, MAX_SHOWN);
    const shown = event.slice(0, MAX_NAME);
    const hint = allowed.length === 0 ? "no event is" : `allowed: ${allowed.join(", ")}`;
    return new SluiceError(
      "invalid_state",
      `Event "${shown}" is not allowed in state "${state}"; ${hint}`,
      {
        data: { state, event: shown, allowed },
      },
    );
  }
}

/** Maps, so that an event named like a member of Object.prototype is no event of the table. */
function readTable<S extends string>(
  transitions: TableMachineOptions<never, S>["transitions"],
): Table<S> {
  const rows = Object.entries<{ readonly [event: string]: S }>(transitions);
  const table = new Map(
    rows.map(([state, events]) => [state as S, new Map(Object.entries<S>(events))]),
  );
  for (const [state, events] of table) {
    for (const [event, target] of events) {
      requireState(table, target, `The target of event "${event}" in state "${state}"`);
    }
  }
  return table;
}

function requireState<S extends string>(table: Table<S>, state: S, what: string): void {
  if (table.has(state)) return;
  const known = [...table.keys()].slice(0, MAX_SHOWN).join(", ");
  throw new RangeError(
    `${what} must be a state of the table (${known}), got "${state.slice(0, MAX_NAME)}"`,
  );
}
