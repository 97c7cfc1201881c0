/** The file `end` of a task without a script: how it ended, for a delegate that starts before the server knows it. */
import { taskEnd } from "../../protocol/messages.ts";
import type { End } from "../output/shipper.ts";
import { readLimitedFile, replaceFile } from "../regular-file.ts";
import { paths } from "./paths.ts";

/** More than a result can have. */
const MAX_END = 8 * 1024 * 1024;

/** @throws the system's error */
export const recordEnd = (folder: string, end: End): void => replaceFile(paths(folder).end, JSON.stringify(end));

/** Undefined if the task has not ended, or the file is damaged. */
export function readEnd(folder: string): End | undefined {
  const bytes = readLimitedFile(paths(folder).end, MAX_END);
  if (bytes === undefined || bytes === "tooLarge") return undefined;
  try {
    return taskEnd.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}
