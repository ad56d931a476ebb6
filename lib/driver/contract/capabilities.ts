import { flag, type Infer, list, record, text } from "../../schema/schema.ts";
import { uint32 } from "./shared.ts";

/** What a driver says it can do; nothing here contradicts itself in the codec's eyes. */
export const Capabilities = record({
  protocols: list(text()),
  operations: list(text()),
  streaming: flag(),
  cancellation: flag(),
  retry_observed: flag(),
  concurrency: flag(),
  max_concurrency: uint32,
});
/** What a driver says it can do. */
export type Capabilities = Infer<typeof Capabilities>;

/** Params of `driver.capabilities`: none. */
export const CapabilitiesParams = record({});
/** Params of `driver.capabilities`: none. */
export type CapabilitiesParams = Infer<typeof CapabilitiesParams>;

/** Result of `driver.capabilities`. */
export const CapabilitiesResult = record({ capabilities: Capabilities });
/** Result of `driver.capabilities`. */
export type CapabilitiesResult = Infer<typeof CapabilitiesResult>;
