/**
 * State machines and validators as steps of a pipe.
 *
 * @module
 */
export type { Direction, StateMachine } from "./state-machine.ts";
export { tableMachine } from "./table-machine.ts";
export type { TableMachineOptions } from "./table-machine.ts";
export { guard } from "./guard.ts";
export type { GuardOptions } from "./guard.ts";
export { validate } from "./validate.ts";
