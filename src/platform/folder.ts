import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it; true when it was not there. Rejects with the error of the system. Node's own
 * recursive mkdir never comes back where a parent exists and takes no folder, as in /proc.
 */
export async function createFolder(path: string, mode: number): Promise<boolean> {
  if (await isFolder(path)) return false;
  if (dirname(path) !== path) await createFolder(dirname(path), mode);
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    // Another process created it first.
    if (codeOf(error) === "EEXIST" && (await isFolder(path))) return false;
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
