/** What came back from the other host by ssh's standard output: whether the script began and ended there, and what it handed over. */
import { MAX_OUTPUTS } from "../../protocol/messages.ts";
import { parseOutputs, readRegular, type Outputs, type OutputVariable } from "../output/output-variables.ts";
import { beginMark, endMark } from "./script.ts";

/**
 * `absent`: the script was never begun. `cut`: it was, and how it ended is not known. `unwritten`: what came back could not
 * be written on the delegate. `tooMuch`: more came back than a script may hand over and a login shell may print.
 */
export type RemoteResult =
  | { readonly kind: "unwritten" }
  | { readonly kind: "tooMuch" }
  | { readonly kind: "absent" }
  | { readonly kind: "cut" }
  | { readonly kind: "over"; readonly code: number; readonly outputs: Outputs };

/** What a login shell's own files may print before it. */
const MAX_PREFACE = 64 * 1024;

/** The variables with their names and the marks around them, and the preface; a file with more is one that the feeder has cut (script.ts). */
export const maxResultBytes = (wanted: readonly OutputVariable[]): number =>
  MAX_OUTPUTS + MAX_PREFACE + wanted.reduce((sum, { variable }) => sum + variable.length + 2, 1);

export function readRemoteResult(file: string, cookie: string, wanted: readonly OutputVariable[]): RemoteResult {
  const bytes = readRegular(file, maxResultBytes(wanted));
  if (bytes !== "tooLarge" && bytes?.length === 0) return { kind: "unwritten" };
  if (bytes === "tooLarge") return { kind: "tooMuch" };
  return bytes === undefined ? { kind: "absent" } : parseRemoteResult(bytes, cookie, wanted);
}

export function parseRemoteResult(bytes: Buffer, cookie: string, wanted: readonly OutputVariable[]): RemoteResult {
  const begin = Buffer.from(beginMark(cookie));
  const end = Buffer.from(endMark(cookie));
  const from = bytes.indexOf(begin);
  if (from < 0) return { kind: "absent" };
  const to = bytes.lastIndexOf(end);
  const code = /^(\d{1,3})\0$/.exec(bytes.toString("latin1", to + end.length))?.[1];
  if (to < from || code === undefined) return { kind: "cut" };
  const body = bytes.subarray(from + begin.length, to);
  const outputs: Outputs = wanted.length === 0 ? { kind: "read", outputs: [] } : parseOutputs(body, wanted);
  return { kind: "over", code: Number(code) & 255, outputs };
}
