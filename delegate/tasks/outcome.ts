/** The outcome of an ended step: exit code and output variables, or why they cannot be used. */
import { existsSync } from "node:fs";
import { MAX_OUTPUTS } from "../../protocol/messages.ts";
import { textOf } from "../fault.ts";
import type { StepMask } from "../output/masking.ts";
import type { Exit, Meta } from "../task-folder/journal.ts";
import type { Log } from "../log.ts";
import { type Output, type Outputs, readOutputs } from "../output/output-variables.ts";
import { maxResultBytes, readRemoteResult } from "../remote/outputs.ts";
import { remoteCookie } from "../remote/script.ts";
import type { End, Lease } from "../output/shipper.ts";
import { readSlice } from "../output/slice.ts";
import { appendToFile } from "../regular-file.ts";
import { ADDED, paths } from "../task-folder/paths.ts";

/** Output variables lie in memory. A restart of the machine clears it, and a person can remove the folder. */
const OUTPUTS_LOST =
  "its output variables are gone: their file in memory was removed, as by a restart of the machine, before the delegate could report them";

const FULL = "the end of its log has the reason, as that the delegate's file system in memory is full";
const OUTPUTS_UNWRITTEN = `its output variables could not be written: ${FULL}`;

type RefusedOutcome = Extract<End["outcome"], { kind: "refused" }>;

type EndedTask = {
  readonly folder: string;
  /** Path of the file with the output variables. */
  readonly outputs: string;
  readonly lease: Lease;
  readonly meta: Meta | undefined;
};

type OutcomeDeps = { readonly stepMask: StepMask; readonly log: Log };

export function outcomeOf(
  { folder, outputs, lease, meta }: EndedTask,
  exit: Exit,
  { stepMask, log }: OutcomeDeps,
): End["outcome"] {
  if (!exit.copied) log.warn({ task: lease.task }, "the output of a step may be incomplete: a process kept it open");
  if (exit.cut !== undefined) return { kind: "refused", message: describeCutOutput(exit.cut) };
  const declared = meta?.outputs ?? [];
  if (exit.code === 0 && declared.length > 0 && !existsSync(outputs)) return { kind: "refused", message: OUTPUTS_LOST };
  const read = meta?.remote
    ? readRemoteOutputs({ file: outputs, host: meta.remote.host }, meta, exit)
    : readOutputs(outputs, declared);
  if (read.kind === "refused") return read;
  if (read.kind === "read") return outcomeWithOutputs(read.outputs, exit, stepMask);
  if (read.kind === "unwritten" && exit.code === 0) return { kind: "refused", message: OUTPUTS_UNWRITTEN };
  if (read.kind === "none" || read.kind === "unwritten") return { kind: "exited", exitCode: exit.code, outputs: [] };
  try {
    appendLine(
      paths(folder).output,
      `${ADDED.outputsTooLarge}${MAX_OUTPUTS / 1024} KB; none was taken, the step fails`,
    );
  } catch (error) {
    // The disk is full, or the step has replaced its output.
    log.warn(
      { task: lease.task, error: textOf(error) },
      "the line that says that the output variables are too large could not be written",
    );
  }
  return { kind: "exited", exitCode: exit.code === 0 ? 1 : exit.code, outputs: [] };
}

/** Applies to every exit code: a part of the output is lost. */
export const describeCutOutput = (code: string): string => {
  const why =
    code === "ENOSPC" || code === "EDQUOT" ? "the delegate's disk is full" : "the delegate could not write it";
  return `The log of the step is incomplete: ${why} (${code}).`;
};

/** If ssh ends before the script does, its own message in the log has the reason. */
function readRemoteOutputs(
  { file, host }: { readonly file: string; readonly host: string },
  { cookie, outputs }: Meta,
  exit: Exit,
): Outputs | RefusedOutcome {
  const returned = readRemoteResult(file, remoteCookie(cookie), outputs);
  switch (returned.kind) {
    case "unwritten":
      return { kind: "refused", message: `what ${host} sent back could not be written: ${FULL}` };
    case "tooMuch":
      return {
        kind: "refused",
        message: `${host} sent more than ${Math.floor(maxResultBytes(outputs) / 1024)} KiB beside the log; no output variable was taken`,
      };
    case "absent":
      return { kind: "refused", message: `nothing was run on ${host}: ssh ended with ${exit.code}; its log says why` };
    case "cut":
      return { kind: "refused", message: `the connection to ${host} ended before the script had, with ${exit.code}` };
    case "over":
      return returned.outputs;
  }
}

/**
 * An output variable with a secret is refused: it is stored and shown, and a masked value would be wrong for its
 * readers.
 */
function outcomeWithOutputs(outputs: readonly Output[], exit: Exit, stepMask: StepMask): End["outcome"] {
  const leaking = outputs.find(({ value }) => stepMask.containsSecret(value));
  if (!leaking) return { kind: "exited", exitCode: exit.code, outputs: [...outputs] };
  if (exit.code !== 0) return { kind: "exited", exitCode: exit.code, outputs: [] };
  return { kind: "refused", message: `its output variable '${leaking.name}' holds a secret; none was taken` };
}

/** Appends a line to the output, unless it is already there: a restarted delegate repeats the call. */
function appendLine(output: string, line: string): void {
  const size = readSlice(output, 0).available;
  const text = Buffer.from(`${line}\n`);
  if (size >= text.length && readSlice(output, size - text.length).bytes.equals(text)) return;
  const startsLine = size === 0 || readSlice(output, size - 1).bytes[0] === 0x0a;
  appendToFile(output, startsLine ? text : Buffer.concat([Buffer.from("\n"), text]));
}
