import { ErrorClass } from "./contract/error-class.ts";
import { ProtocolError } from "./contract/protocol-error.ts";

/**
 * Checks that permissions are a set of non-empty names within another set (host-v1 §2).
 *
 * @param names What is asked for or taken.
 * @param allowed What may be asked for or taken; undefined when anything may.
 * @param who Names the list in the message, such as `Approved permissions`.
 * @throws {ProtocolError} `permission_denied` naming the first that is blank, repeated or too much.
 */
export function checkPermissions(
  names: readonly string[],
  allowed: readonly string[] | undefined,
  who: string,
): void {
  const seen = new Set<string>();
  const permitted = allowed && new Set(allowed);
  for (const name of names) {
    const problem = blank(name) ?? repeated(name, seen) ?? beyond(name, permitted);
    if (problem !== undefined) {
      throw new ProtocolError(ErrorClass.PermissionDenied, `${who} ${problem}`, {
        data: { permission: name.slice(0, 100) },
      });
    }
    seen.add(name);
  }
}

function blank(name: string): string | undefined {
  return name.trim() === "" ? "have a blank name among them" : undefined;
}

function repeated(name: string, seen: ReadonlySet<string>): string | undefined {
  return seen.has(name) ? `name ${JSON.stringify(name.slice(0, 100))} twice` : undefined;
}

function beyond(name: string, permitted: ReadonlySet<string> | undefined): string | undefined {
  if (permitted === undefined || permitted.has(name)) return undefined;
  return `hold ${JSON.stringify(name.slice(0, 100))}, which the other side did not offer`;
}
