import { DEFAULT_LIMITS } from "../lib/limits.ts";

/** What the published schemas say of a record and of its members; the contract in `lib/` stays lean. */
export interface RecordText {
  readonly description: string;
  readonly members: Readonly<Record<string, string>>;
  /** Bounds that the kit checks beside the contract: in bytes, of which a character has at least one. */
  readonly bounds?: Readonly<
    Record<string, { readonly maximum?: number; readonly maxLength?: number }>
  >;
}

const NONE: Readonly<Record<string, string>> = {};
const INVOCATION = {
  invocation_id: "The invocation, as driver.invoke named it.",
  attempt_id: "The attempt, as driver.invoke named it.",
};
const STREAM_BOUNDS = { stream_id: { maxLength: DEFAULT_LIMITS.streamIdBytes } };
const STREAM = {
  ...INVOCATION,
  stream_id: "Names the stream within its invocation and direction: 1 to 256 bytes of UTF-8.",
};

/** The texts of all records, by the name under which the contract exports them. */
export const RECORD_TEXTS: Readonly<Record<string, RecordText>> = {
  HelloParams: {
    description: "Params of driver.hello, from the host.",
    members: { core_version_range: "The versions of this contract that the host speaks." },
  },
  HelloResult: {
    description: "Result of driver.hello: who the driver is and what it wants.",
    members: {
      driver_version_range: "The versions of this contract that the driver speaks.",
      identity: "What exactly is running.",
      capabilities: "What the driver can do.",
      requested_permissions: "Permissions that the driver asks for: distinct, not blank.",
    },
  },
  VersionRange: {
    description: "An inclusive range of versions.",
    members: { minimum: "The lowest version.", maximum: "The highest version." },
  },
  DriverIdentity: {
    description: "Pins the programs that an observation can depend on.",
    members: {
      name: "The driver's name.",
      version: "The driver's version.",
      sdk_name: "The SDK under it; only together with sdk_version.",
      sdk_version: "The version of that SDK.",
      client_name: "The client under it; only together with client_version.",
      client_version: "The version of that client.",
      runtime_name: "The language runtime.",
      runtime_version: "The version of the language runtime.",
      os: "The operating system.",
      architecture: "The processor architecture.",
      artifact_digest: "Digest of the driver's own artifact.",
      lockfile_digest: "Digest of the file that locks its dependencies.",
    },
  },
  Capabilities: {
    description: "What a driver can do.",
    members: {
      protocols: "Names of further protocols, such as sluice.companion.v1.",
      operations: "Operations that driver.invoke may name; an empty list says nothing.",
      streaming: "Whether observations come while the operation goes on.",
      cancellation: "Whether the driver heeds driver.cancel.",
      retry_observed: "Whether the driver reports retries of the client under it.",
      concurrency: "Whether several invocations may be under way at a time.",
      max_concurrency: "How many, where concurrency is true.",
    },
  },
  PrepareParams: {
    description: "Params of driver.prepare, from the host.",
    members: {
      resolved_plan_digest: "Digest of the plan that was approved.",
      capability_token: "A secret of this session: neither stored nor logged.",
      fixture_refs: "References to fixtures of the plan.",
      approved_permissions: "The permissions granted, among those requested.",
    },
  },
  ObjectRef: {
    description: "A typed reference to content.",
    members: {
      kind: "The type of the object.",
      instance_id: "The instance, where the object has one.",
      content_digest: "Digest of the content.",
    },
  },
  PrepareResult: {
    description: "Result of driver.prepare.",
    members: { accepted_permissions: "The permissions that the driver takes of those granted." },
  },
  CapabilitiesParams: { description: "Params of driver.capabilities: none.", members: NONE },
  CapabilitiesResult: {
    description: "Result of driver.capabilities.",
    members: { capabilities: "What the driver can do now." },
  },
  InvokeParams: {
    description: "Params of driver.invoke, from the host.",
    members: {
      invocation_id: "A new id, never used before in the session.",
      attempt_id: "Names this attempt.",
      operation: "What to do.",
      ephemeral_exact_input_handle: "Where the exact input is.",
    },
  },
  ExactInputHandle: {
    description: "Where the driver reads the exact input of one invocation.",
    members: {
      kind: "What is behind the value.",
      value: "A path, an address, or companion:<stream id>.",
    },
  },
  CancelParams: {
    description: "Params of driver.cancel, from the host.",
    members: {
      invocation_id: "The invocation under way.",
      reason: "Why, for people.",
      deadline_millis: "Milliseconds until the invocation must have been completed.",
    },
  },
  CancelResult: {
    description: "Result of driver.cancel: a receipt, which ends nothing.",
    members: { acknowledged: "Whether the driver takes note of it." },
  },
  ResetParams: { description: "Params of driver.reset: none.", members: NONE },
  ResetResult: { description: "Result of driver.reset: empty.", members: NONE },
  ShutdownParams: { description: "Params of driver.shutdown: none.", members: NONE },
  ShutdownResult: { description: "Result of driver.shutdown: empty.", members: NONE },
  ObservationParams: {
    description:
      "Params of driver.observation, from the driver; a payload and a data stream exclude each other.",
    members: {
      ...INVOCATION,
      sequence: "Rises within the invocation; gaps are allowed.",
      kind: "What was observed.",
      monotonic_ns: "The driver's monotonic clock, in nanoseconds.",
      payload: "Any JSON value, null included.",
      data_stream: "The companion stream that carries the data.",
    },
  },
  CompanionStreamRef: {
    description: "Names a stream of the companion channel.",
    members: { stream_id: STREAM.stream_id },
    bounds: STREAM_BOUNDS,
  },
  CompletedParams: {
    description: "Params of driver.completed, from the driver.",
    members: {
      ...INVOCATION,
      status: "How the invocation ended.",
      last_sequence: "The sequence of the last observation; absent when there was none.",
      summary_digest: "Digest over what was observed, by a rule that the capabilities name.",
    },
  },
  RpcError: {
    description: "The error object of a response.",
    members: {
      code: "A JSON-RPC code; the class is what counts.",
      message: "What happened, for people.",
      data: "The class, and more.",
    },
  },
  ErrorData: {
    description: "The class of a failure.",
    members: { class: "One of the ten classes.", details: "Any JSON value." },
  },
  DataFrameHeader: {
    description: "The first block of a data frame on the companion channel.",
    members: {
      ...STREAM,
      sequence: "Counts the frames of the stream, from 0 by one.",
      length: "Bytes of the payload block that follows, at most the receiver's max_frame_bytes.",
      final: "Whether this is the last frame of the stream.",
    },
    bounds: { ...STREAM_BOUNDS, length: { maximum: DEFAULT_LIMITS.dataFrameBytes } },
  },
  CompanionHello: {
    description: "The first block of each side of the companion channel.",
    members: {
      type: "Marks the block.",
      protocol: "The protocol's name.",
      token: "From a driver that was given one: SLUICE_COMPANION_TOKEN.",
      max_frame_bytes: "The longest payload that the sender of this block accepts.",
      window: "The most credit that it has outstanding on a stream; 0 marks a serial driver.",
    },
  },
  CompanionCredit: {
    description: "Lets the other side send more of one of its streams.",
    members: {
      type: "Marks the block.",
      ...STREAM,
      bytes: "Bytes of payload beyond what was granted.",
    },
    bounds: STREAM_BOUNDS,
  },
  CompanionAbort: {
    description: "Ends one of the sender's own streams, whose source failed.",
    members: {
      type: "Marks the block.",
      ...STREAM,
      reason: "Why, for people: 1 to 512 bytes of UTF-8.",
    },
    bounds: { ...STREAM_BOUNDS, reason: { maxLength: DEFAULT_LIMITS.reasonBytes } },
  },
  CompanionStop: {
    description: "Says that one of the other side's streams is not wanted.",
    members: { type: "Marks the block.", ...STREAM },
    bounds: STREAM_BOUNDS,
  },
};
