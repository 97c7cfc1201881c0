/**
 * Names in folders that steps can write to, as the bytes that they are: Linux takes every byte but NUL and `/`. Read as
 * UTF-8, other bytes become U+FFFD, and the name that results names nothing or is too long.
 */
import type { Dir } from "node:fs";
import { opendir } from "node:fs/promises";

/** Names that are read at once. */
const BATCH = 1_000;

/** @throws the system's error when the folder cannot be opened or read */
export async function* readNames(folder: string): AsyncGenerator<Buffer> {
  const options: object = { encoding: "buffer", bufferSize: BATCH };
  const opened: Dir = await opendir(folder, options);
  for await (const entry of opened) {
    const name: unknown = entry.name;
    if (!Buffer.isBuffer(name)) throw new Error(`the names in ${folder} are not read as bytes`);
    yield name;
  }
}

/** The path of an entry whose name may not be UTF-8. `folder` is. */
export const joinPath = (folder: string, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), name]);
