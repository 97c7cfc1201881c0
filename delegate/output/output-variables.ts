/**
 * Output variables: how Bash writes them, and how the delegate reads them.
 *
 * The script is sourced by `bash -c`, with `$0` and `$BASH_SOURCE` naming the
 * script, and a short epilogue after it writes the variables to a file. So the
 * script's text is never touched (an open here-document, a last line that ends
 * in a backslash), `exit` ends the shell before the epilogue (without output
 * variables), and the exit code is the script's.
 * Steps without output variables are run the same way: adding one must not
 * change how a script behaves. What differs from `bash script.sh`: a top-level
 * `return` ends the script, a RETURN trap of the top level fires at its end,
 * and `set -x` prints one `+` more.
 */
import { MAX_OUTPUTS } from "../../protocol/messages.ts";
import { readLimitedFile } from "../regular-file.ts";

/** An output variable to read: its name in the pipeline, and the shell variable that holds it. */
export type OutputVariable = { readonly name: string; readonly variable: string };
/** The value of an output variable, under its name in the pipeline. */
export type Output = { readonly name: string; readonly value: string };

/**
 * `none`: the script did not reach its end. `tooLarge`: over MAX_OUTPUTS, nothing is taken. `unwritten`: it has reached
 * its end, and not all could be written, as when the file system in memory is full.
 */
export type Outputs =
  | { readonly kind: "read"; readonly outputs: readonly Output[] }
  | { readonly kind: "none" }
  | { readonly kind: "tooLarge" }
  | { readonly kind: "unwritten" };

/** Initial content of the file. The end of the script replaces it; an empty file could not be written. */
export const END_NOT_REACHED = "-";

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether the shell accepts the variable name. Other names are never written into shell text. */
export const isShellName = (name: string): boolean => SHELL_NAME.test(name);

/** Quotes any text as one word of Bash. */
export const quoteForBash = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The text for `bash -c`. It is one line on purpose: Bash reads it as a whole
 * before the script can define aliases. `builtin` passes over the script's
 * functions; `set +eux` and the traps would turn the epilogue into output.
 */
export const bashCommand = (script: string, file: string, wanted: readonly OutputVariable[]): string =>
  bashLine(`. ${quoteForBash(script)}`, `>|${quoteForBash(file)}`, wanted);

/** The same; `source` runs the script in this very shell, `sink` is the redirection to where its variables go. */
export function bashLine(source: string, sink: string, wanted: readonly OutputVariable[]): string {
  const variables = [...new Set(wanted.map(({ variable }) => variable))].filter(isShellName);
  if (variables.length === 0) return source;
  // A failed write ends the chain, so that the final record is missing.
  const writes = variables.map((name) => `{ [[ ! \${${name}+x} ]] || builtin printf '${name}=%s\\0' "\${${name}}"; }`);
  return [
    source,
    "{ __railhead_status=$?; builtin set +eux; builtin trap - DEBUG ERR; } >/dev/null 2>&1",
    `{ ${[...writes, "builtin printf '\\0'"].join(" && ")}; } ${sink}`,
    'builtin exit "$__railhead_status"',
  ].join("; ");
}

/** Reads the output of the epilogue. The step can write the file: its content and type are not trusted. */
export function readOutputs(file: string, wanted: readonly OutputVariable[]): Outputs {
  if (wanted.length === 0) return { kind: "read", outputs: [] };
  const limit = MAX_OUTPUTS + wanted.reduce((sum, { variable }) => sum + variable.length + 2, 1);
  const bytes = readLimitedFile(file, limit);
  if (bytes === "tooLarge") return { kind: "tooLarge" };
  if (bytes === undefined || bytes.toString("latin1") === END_NOT_REACHED) return { kind: "none" };
  const read = parseOutputs(bytes, wanted);
  return read.kind === "none" ? { kind: "unwritten" } : read;
}

/**
 * `variable=value` NUL, for each variable that was set, then one more NUL. A
 * variable that was not set gives no output: its absence can be told from an
 * empty value. Bytes that are no UTF-8 become U+FFFD.
 */
export function parseOutputs(bytes: Buffer, wanted: readonly OutputVariable[]): Outputs {
  const values = new Map<string, string>();
  let start = 0;
  for (let end = bytes.indexOf(0); end > start; end = bytes.indexOf(0, start)) {
    const record = bytes.subarray(start, end).toString("utf8");
    const equals = record.indexOf("=");
    values.set(record.slice(0, equals), record.slice(equals + 1));
    start = end + 1;
  }
  if (start !== bytes.length - 1 || bytes[start] !== 0) return { kind: "none" };
  const outputs = wanted.flatMap(({ name, variable }) => {
    const value = values.get(variable);
    return value === undefined ? [] : [{ name, value }];
  });
  const size = outputs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  return size > MAX_OUTPUTS ? { kind: "tooLarge" } : { kind: "read", outputs };
}
