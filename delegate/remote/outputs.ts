/**
 * Reads the result of a remote step from ssh's standard output: whether the script started and ended, and its output
 * variables.
 */
import { MAX_OUTPUTS } from "../../protocol/messages.ts";
import { parseOutputs, type Outputs, type OutputVariable } from "../output/output-variables.ts";
import { readLimitedFile } from "../regular-file.ts";
import { beginMark, endMark } from "./script.ts";

/**
 * `absent`: the script did not start. `cut`: it started, and its end is unknown. `unwritten`: the result could not
 * be written on the delegate. `tooMuch`: the result exceeds the limits of output variables and of a login shell's
 * output.
 */
export type RemoteResult =
  | { readonly kind: "unwritten" }
  | { readonly kind: "tooMuch" }
  | { readonly kind: "absent" }
  | { readonly kind: "cut" }
  | { readonly kind: "over"; readonly code: number; readonly outputs: Outputs };

/** Bytes that a login shell's startup files may print before the script. */
const MAX_PREFACE = 64 * 1024;

/**
 * Limit of the file in bytes: the variables, their names, the marks and the preface. The feeder cuts longer ones
 * (script.ts).
 */
export const maxResultBytes = (wanted: readonly OutputVariable[]): number =>
  MAX_OUTPUTS + MAX_PREFACE + wanted.reduce((sum, { variable }) => sum + variable.length + 2, 1);

/**
 * @param file ssh's standard output
 * @param cookie the word that marks begin and end of the script's part in it
 */
export function readRemoteResult(file: string, cookie: string, wanted: readonly OutputVariable[]): RemoteResult {
  const bytes = readLimitedFile(file, maxResultBytes(wanted));
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
