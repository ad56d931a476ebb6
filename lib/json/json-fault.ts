import { SluiceError } from "../errors.ts";

/** Why a JSON text was refused; the `code` of the error that {@link parseJson} throws. */
export const JsonErrorCode = {
  InvalidUtf8: "invalid_utf8",
  DuplicateKey: "duplicate_key",
  Trailing: "trailing",
  Depth: "depth",
  NumberRange: "number_range",
  LoneSurrogate: "lone_surrogate",
  Syntax: "syntax",
} as const;
/** One of the reasons for which a JSON text is refused. */
export type JsonErrorCode = (typeof JsonErrorCode)[keyof typeof JsonErrorCode];

/** One step of a path: a member's name or an element's index. */
export type PathStep = string | number;

/** Longest pointer kept in an error, in UTF-16 code units; a longer one is cut and ends in `…`. */
const MAX_POINTER = 1024;

const PHRASES: Record<JsonErrorCode, string> = {
  invalid_utf8: "JSON text is not valid UTF-8",
  duplicate_key: "JSON object repeats a member name",
  trailing: "JSON text goes on after its value",
  depth: "JSON text is nested too deeply",
  number_range: "JSON number is beyond the range of a double",
  lone_surrogate: "JSON string holds an unpaired surrogate",
  syntax: "JSON text is malformed",
};

/**
 * Makes the error for a refused JSON text.
 *
 * @param code Why it was refused.
 * @param where Offset in bytes of the UTF-8 text, and the path of the value concerned.
 */
export function jsonFault(
  code: JsonErrorCode,
  where: { readonly offset: number; readonly path: readonly PathStep[] },
): SluiceError {
  const path = jsonPointer(where.path);
  const place = path === "" ? "" : `, in ${cut(path, 80)}`;
  return new SluiceError(code, `${PHRASES[code]} at byte ${where.offset}${place}`, {
    data: { offset: where.offset, path },
  });
}

/** Writes a path as an RFC 6901 pointer of bounded length. */
export function jsonPointer(path: readonly PathStep[]): string {
  let pointer = "";
  for (const step of path) {
    if (pointer.length > MAX_POINTER) break;
    const name = String(step).slice(0, MAX_POINTER + 1);
    pointer += `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return cut(pointer, MAX_POINTER).toWellFormed();
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
