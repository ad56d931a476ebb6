import { type Infer, oneOf, record, text } from "../../schema/schema.ts";
import { InstanceId } from "./shared.ts";

/** Where a driver reads an invocation's exact input; its value is a secret of that invocation. */
export const ExactInputHandle = record({
  kind: oneOf(["pipe", "socket", "memfd"]),
  value: text({ minLength: 1 }),
});
/** Where a driver reads an invocation's exact input. */
export type ExactInputHandle = Infer<typeof ExactInputHandle>;

/** Params of `driver.invoke`. */
export const InvokeParams = record({
  invocation_id: InstanceId,
  attempt_id: InstanceId,
  operation: text({ minLength: 1 }),
  ephemeral_exact_input_handle: ExactInputHandle,
});
/** Params of `driver.invoke`. */
export type InvokeParams = Infer<typeof InvokeParams>;
