/** Each escape of a JSON text, a pair of surrogates as one. */
const ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/gsu;
/** A surrogate on its own. */
const LONE = /^\\u[dD][89a-fA-F][0-9a-fA-F]{2}$/u;

/** Replaces the escapes of unpaired surrogates in a JSON text by U+FFFD; everything else stays. */
export function replaceSurrogates(text: string): string {
  return text.replace(ESCAPE, (escape) => (LONE.test(escape) ? "\\ufffd" : escape));
}
