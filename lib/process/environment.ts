/** Which rules for names hold: Windows compares them without case. */
export type EnvironmentPlatform = "posix" | "windows";

/** What {@link mergeEnvironment} joins. */
export interface EnvironmentParts {
  /** The host's own environment. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Names beyond the allow-list that the child may inherit. Default: none. */
  readonly inherit?: readonly string[] | undefined;
  /** What the caller sets; `undefined` takes a name away. Default: nothing. */
  readonly additions?: Readonly<Record<string, string | undefined>> | undefined;
  readonly platform: EnvironmentPlatform;
}

const POSIX_NAMES: readonly string[] =
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR __CF_USER_TEXT_ENCODING".split(" ");

const WINDOWS_NAMES: readonly string[] = (
  "PATH PATHEXT COMSPEC WINDIR SYSTEMROOT SYSTEMDRIVE OS TEMP TMP " +
  "USERNAME USERDOMAIN USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PUBLIC " +
  "PROGRAMDATA ALLUSERSPROFILE PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 " +
  "COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 " +
  "NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE"
).split(" ");

/**
 * Builds a child's environment: the allow-listed part of the host's, with the caller's additions over it.
 *
 * No other name of the host gets through. Names that start with `SLUICE_` are never inherited, nor
 * are values that an old shell would run as a function.
 *
 * @throws {TypeError} When a name is empty or has `=` or NUL in it, or a value is not a string or has NUL in it.
 */
export function mergeEnvironment(parts: EnvironmentParts): Record<string, string> {
  const fold =
    parts.platform === "windows" ? (name: string) => name.toUpperCase() : (name: string) => name;
  const allowed = new Set(parts.platform === "windows" ? WINDOWS_NAMES : POSIX_NAMES);
  for (const name of parts.inherit ?? []) allowed.add(fold(name));
  const merged = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(parts.inherited)) {
    const key = fold(name);
    if (value === undefined || !mayInherit(key, allowed) || value.startsWith("()")) continue;
    merged.set(key, [name, value]);
  }
  for (const [name, value] of Object.entries(parts.additions ?? {})) {
    checkName(name);
    merged.delete(fold(name));
    if (value !== undefined) merged.set(fold(name), [name, checkValue(name, value)]);
  }
  return Object.fromEntries(merged.values());
}

function mayInherit(key: string, allowed: ReadonlySet<string>): boolean {
  return !key.toUpperCase().startsWith("SLUICE_") && (allowed.has(key) || key.startsWith("LC_"));
}

function checkName(name: string): void {
  if (name === "" || /[=\0]/.test(name)) {
    throw new TypeError(
      `An environment name must be a non-empty text without "=" and NUL, got ${JSON.stringify(name.slice(0, 40))}`,
    );
  }
}

/** The value stays out of the message: it may be a secret. */
function checkValue(name: string, value: unknown): string {
  if (typeof value === "string" && !value.includes("\0")) return value;
  throw new TypeError(
    `The environment value of ${name.slice(0, 40)} must be a text without NUL, got ${typeof value}`,
  );
}
