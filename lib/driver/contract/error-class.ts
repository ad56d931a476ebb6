/** The stable, machine-readable taxonomy of failures (driver protocol v1 §1). */
export const ErrorClass = {
  UnsupportedRpcVersion: "unsupported_rpc_version",
  InvalidState: "invalid_state",
  InvalidRequest: "invalid_request",
  PermissionDenied: "permission_denied",
  BudgetExceeded: "budget_exceeded",
  CapabilityMismatch: "capability_mismatch",
  DriverInternal: "driver_internal",
  CancellationTimeout: "cancellation_timeout",
  MalformedObservation: "malformed_observation",
  ArtifactMismatch: "artifact_mismatch",
} as const;
/** One of the ten classes of failure. */
export type ErrorClass = (typeof ErrorClass)[keyof typeof ErrorClass];

/** The JSON-RPC code this kit sends for each class; from others any code is taken (host-v1 §9). */
export const RPC_CODES: { readonly [C in ErrorClass]: number } = {
  invalid_request: -32600,
  driver_internal: -32603,
  invalid_state: -32001,
  permission_denied: -32002,
  budget_exceeded: -32003,
  capability_mismatch: -32004,
  cancellation_timeout: -32005,
  malformed_observation: -32006,
  artifact_mismatch: -32007,
  unsupported_rpc_version: -32008,
};
