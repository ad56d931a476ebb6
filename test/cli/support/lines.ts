/**
 * The lines of a text that comes in pieces. Not `node:readline`, for which U+2028 ends a line as well.
 *
 * @yields Each line without its end.
 */
export async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const text of source) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}
