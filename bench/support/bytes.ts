const CHUNK_BYTES = 64 * 1024;

/** Joins parts and cuts the whole into chunks of 64 KiB, each with a buffer of its own. */
export function cutUp(parts: readonly Uint8Array[]): Uint8Array[] {
  const bytes = join(
    parts,
    parts.reduce((length, part) => length + part.length, 0),
  );
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    chunks.push(bytes.slice(at, at + CHUNK_BYTES));
  return chunks;
}

/** Joins parts of `length` bytes together. */
export function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
