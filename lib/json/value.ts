/** Any JSON value as JavaScript sees it; numbers are IEEE doubles. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [name: string]: JsonValue };
