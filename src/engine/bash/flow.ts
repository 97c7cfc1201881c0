/**
 * Where a value goes that a command was given: through pipes, substitutions and
 * groups, as far as the commands on the way write out what they get.
 */
import type { Command, Sink } from "./command.ts";
import { prints } from "./programs.ts";
import { SHELL_INPUT, type Reason } from "./reasons.ts";
import type { Scanner } from "./scanner.ts";

/** Refuses every expression whose value reaches, on its way, something that reads its input as code. */
export function refuseFlows({ flows, holes, runsCoprocess }: Scanner): void {
  for (const { hole, to } of flows) {
    const found = holes[hole];
    if (found) found.refusal ??= reasonAtEnd(to, runsCoprocess);
  }
}

function reasonAtEnd(start: Sink, runsCoprocess: boolean): Reason | null {
  const passed: Command[] = [];
  let result: Reason | null | undefined;
  let at: Sink | null = start;
  while (at && result === undefined) {
    const { command, as }: Sink = at;
    if (as === "input" && command.input) result = command.input;
    else if (as === "file" && command.substituted) result = command.substituted;
    else if (command.name !== null && !prints(command.name)) result = null;
    else if (command.becomesCode !== undefined) result = command.becomesCode;
    else {
      passed.push(command);
      result = reasonBeside(command, runsCoprocess);
      at = command.next ? { command: command.next, as: "input" } : command.outer;
    }
  }
  for (const command of passed) command.becomesCode = result ?? null;
  return result ?? null;
}

/** What else gets the output of a command: `>(…)` and a coprocess. */
function reasonBeside({ feeds, writesCoprocess }: Command, runsCoprocess: boolean): Reason | undefined {
  if (writesCoprocess && runsCoprocess) return SHELL_INPUT;
  for (const command of feeds) {
    const reason = reasonAtEnd({ command, as: "input" }, runsCoprocess);
    if (reason) return reason;
  }
  return undefined;
}
