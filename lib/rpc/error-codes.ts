/** The numeric error codes that JSON-RPC 2.0 fixes, and the one this kit adds from the server range. */
export const RpcErrorCode = {
  /** The text is not JSON. */
  ParseError: -32700,
  /** The JSON is not a request. */
  InvalidRequest: -32600,
  /** No such method. */
  MethodNotFound: -32601,
  /** The parameters do not fit the method. */
  InvalidParams: -32602,
  /** The handler failed. */
  InternalError: -32603,
  /** Too many requests are under way; try again later. */
  TooManyRequests: -32000,
} as const;
/** One of the codes of {@link RpcErrorCode}; peers may send any other whole number. */
export type RpcErrorCode = (typeof RpcErrorCode)[keyof typeof RpcErrorCode];
