import { CompanionFault, CompanionFaultCode, malformed } from "./companion-fault.ts";
import { COMPANION_PROTOCOL, type CompanionHello, type ControlBlock } from "./contract.ts";

/** Which end of the channel this is. */
export type CompanionRole = "host" | "driver";

/** What one end says of itself. */
export interface HelloTerms {
  readonly maxFrameBytes: number;
  readonly window: number;
  /** Only the driver sends one. */
  readonly token?: string | undefined;
}

/** The first block of an end. */
export function helloOf({ maxFrameBytes, window, token }: HelloTerms): CompanionHello {
  return {
    type: "hello",
    protocol: COMPANION_PROTOCOL,
    max_frame_bytes: maxFrameBytes,
    window,
    ...(token !== undefined && { token }),
  };
}

/**
 * Checks the first block of the other end.
 *
 * @param token What a host expects; undefined when it expects none.
 * @throws {CompanionFault} `malformed` when it is no hello, or a host's that gives no credit;
 *   `wrong_token`.
 */
export function checkHello(
  block: ControlBlock | undefined,
  { role, token }: { readonly role: CompanionRole; readonly token?: string | undefined },
): CompanionHello {
  if (block?.type !== "hello") throw malformed(0, "must be a hello, as the first on the channel");
  if (role === "driver" && block.window === 0)
    throw malformed(0, "is a host's hello without credit: window must be at least 1");
  if (role === "host" && token !== undefined && !sameText(block.token ?? "", token)) {
    throw new CompanionFault(
      CompanionFaultCode.WrongToken,
      "The companion channel was opened without the token that the driver was given",
    );
  }
  return block;
}

/** Compares in a time that depends on the length of `given` alone. */
function sameText(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let k = 0; k < given.length; k += 1)
    difference |= given.charCodeAt(k) ^ expected.charCodeAt(k % expected.length);
  return difference === 0;
}
