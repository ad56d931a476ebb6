import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { SchemaOutput } from "../schema/check-schema.ts";
import type { RpcId } from "./message.ts";

/** What a handler gets beside the parameters. */
export interface MethodContext {
  /** Aborts when the peer ends, with the reason. */
  readonly signal: AbortSignal;
  /** The id of the request. */
  readonly id: RpcId;
}

/** One method that a peer serves. */
export interface Method<S extends StandardSchemaV1 = StandardSchemaV1> {
  /** Checks the parameters, synchronously or not; a mismatch is answered with −32602. */
  readonly params?: S;
  /**
   * Serves one request.
   *
   * @returns The result, or a promise of it; undefined is sent as null. What it throws becomes the error.
   */
  handler(params: SchemaOutput<S>, context: MethodContext): unknown;
}

/** The methods that a peer serves, by name. */
export type MethodTable = { readonly [name: string]: Method };

/** Gives a method back as it is, so that the handler's parameters take their type from the schema. */
export function defineMethod<S extends StandardSchemaV1>(method: Method<S>): Method<S> {
  return method;
}
