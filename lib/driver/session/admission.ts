import type { SluiceError } from "../../errors.ts";
import type { Capabilities } from "../contract/capabilities.ts";
import { ErrorClass } from "../contract/error-class.ts";
import { ProtocolError } from "../contract/protocol-error.ts";
import { State } from "../machine.ts";
import type { Link } from "./link.ts";

/** What an invocation asks to be admitted to. */
export interface AdmissionRequest {
  readonly operation: string;
  readonly capabilities: Capabilities | undefined;
  /** How many wait for their turn already. */
  readonly queued: number;
}

/**
 * Tells why an invocation cannot be taken, before anything is sent.
 *
 * @returns Undefined when it can.
 */
export function refusalOf(link: Link, request: AdmissionRequest): SluiceError | undefined {
  if (link.reason !== undefined) return link.reason;
  if (link.closing) return link.closeReason;
  const { state } = link.lifecycle;
  if (state !== State.Prepared && state !== State.Invoking) {
    return new ProtocolError(
      ErrorClass.InvalidState,
      `driver.invoke is not allowed in state ${state}: call prepare() first`,
    );
  }
  return notOffered(request) ?? overload(link, request);
}

/** How many invocations the driver runs at a time (host-v1 §1): anything unclear means one. */
export function concurrencyOf(capabilities: Capabilities | undefined): number {
  if (capabilities?.concurrency !== true) return 1;
  return Math.max(1, capabilities.max_concurrency);
}

function notOffered({ operation, capabilities }: AdmissionRequest): SluiceError | undefined {
  const offered = capabilities?.operations ?? [];
  if (offered.length === 0 || offered.includes(operation)) return undefined;
  const shown = JSON.stringify(operation.slice(0, 100));
  return new ProtocolError(
    ErrorClass.CapabilityMismatch,
    `Driver does not offer the operation ${shown}, only ${offered.slice(0, 20).join(", ")}`,
  );
}

function overload(link: Link, { queued }: AdmissionRequest): SluiceError | undefined {
  if (queued < link.limits.invokeQueue) return undefined;
  return new ProtocolError(
    ErrorClass.BudgetExceeded,
    `${queued} invocations wait for their turn already`,
    { code: "invoke_queue_full" },
  );
}
