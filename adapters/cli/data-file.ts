import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";

/** Longest part of a name that comes from the driver or the user. */
const MAX_PART = 64;
/** Most files that may be called the same before it is given up. */
const MAX_SAME = 1_000;

/** What a file of a data stream is called after. */
export interface DataFileName {
  readonly operation: string;
  readonly sequence: number;
  readonly streamId: string;
}

/** A file that was made for one data stream. */
export interface DataFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Makes the file `<operation>-<sequence>-<stream id>` of mode 0600 in a folder.
 *
 * It never leaves the folder, whatever the driver calls its streams, never follows a link, and never
 * takes the place of another file: a name that is taken gets a number.
 */
export async function createDataFile(folder: string, name: DataFileName): Promise<DataFile> {
  const base = [part(name.operation), name.sequence, part(name.streamId)].join("-");
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? base : `${base}-${number}`);
    try {
      return { path, handle: await open(path, "wx", 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || number === MAX_SAME) throw error;
    }
  }
}

/** Letters, digits and three harmless signs; no dot where it would hide a file or name a folder. */
function part(text: string): string {
  return text
    .slice(0, MAX_PART)
    .replace(/[^A-Za-z0-9._-]/g, "_")
    .replace(/^\.+|\.+$/g, "_");
}
