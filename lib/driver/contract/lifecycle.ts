import { type Infer, record } from "../../schema/schema.ts";

/** Params of `driver.reset`: none. */
export const ResetParams = record({});
/** Params of `driver.reset`: none. */
export type ResetParams = Infer<typeof ResetParams>;

/** Result of `driver.reset`: empty. */
export const ResetResult = record({});
/** Result of `driver.reset`: empty. */
export type ResetResult = Infer<typeof ResetResult>;

/** Params of `driver.shutdown`: none. */
export const ShutdownParams = record({});
/** Params of `driver.shutdown`: none. */
export type ShutdownParams = Infer<typeof ShutdownParams>;

/** Result of `driver.shutdown`: empty. */
export const ShutdownResult = record({});
/** Result of `driver.shutdown`: empty. */
export type ShutdownResult = Infer<typeof ShutdownResult>;
