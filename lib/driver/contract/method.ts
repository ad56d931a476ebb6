import type { Schema } from "../../schema/schema.ts";
import { CancelParams } from "./cancel.ts";
import { CapabilitiesParams } from "./capabilities.ts";
import { CompletedParams } from "./completed.ts";
import { HelloParams } from "./hello.ts";
import { InvokeParams } from "./invoke.ts";
import { ResetParams, ShutdownParams } from "./lifecycle.ts";
import { ObservationParams } from "./observation.ts";
import { PrepareParams } from "./prepare.ts";

/** The methods of driver protocol v1; the last two are notifications of the driver. */
export const Method = {
  Hello: "driver.hello",
  Prepare: "driver.prepare",
  Capabilities: "driver.capabilities",
  Invoke: "driver.invoke",
  Cancel: "driver.cancel",
  Reset: "driver.reset",
  Shutdown: "driver.shutdown",
  Observation: "driver.observation",
  Completed: "driver.completed",
} as const;
/** A method of driver protocol v1. */
export type Method = (typeof Method)[keyof typeof Method];

interface MethodRule {
  readonly params: Schema<object>;
  readonly notification: boolean;
  /** Whether params may be left out, which then means `{}`. */
  readonly optional: boolean;
}

/** What each method carries. */
export const METHODS = {
  "driver.hello": { params: HelloParams, notification: false, optional: false },
  "driver.prepare": { params: PrepareParams, notification: false, optional: false },
  "driver.capabilities": { params: CapabilitiesParams, notification: false, optional: true },
  "driver.invoke": { params: InvokeParams, notification: false, optional: false },
  "driver.cancel": { params: CancelParams, notification: false, optional: false },
  "driver.reset": { params: ResetParams, notification: false, optional: true },
  "driver.shutdown": { params: ShutdownParams, notification: false, optional: true },
  "driver.observation": { params: ObservationParams, notification: true, optional: false },
  "driver.completed": { params: CompletedParams, notification: true, optional: false },
} as const satisfies { readonly [M in Method]: MethodRule };

/** Tells whether a string names a method, in exact spelling. */
export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name);
}
