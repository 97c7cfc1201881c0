/**
 * Where a value goes that a command was given: through pipes, substitutions and
 * groups, as far as the commands on the way write out what they get.
 */
import type { Command, Sink } from "./command.ts";
import { prints } from "./programs.ts";
import { CODE } from "./reasons.ts";
import type { Scanner } from "./scanner.ts";

/** Refuses every expression whose value reaches, on its way, something that reads its input as code. */
export function refuseFlows({ flows, holes }: Scanner): void {
  for (const { hole, to } of flows) {
    const found = holes[hole];
    if (found && found.refusal === null && endsAsCode(to)) found.refusal = CODE;
  }
}

function endsAsCode(start: Sink): boolean {
  const passed: Command[] = [];
  let result: boolean | undefined;
  let at: Sink | null = start;
  while (at && result === undefined) {
    const { command, as }: Sink = at;
    if (as === "input" && command.input) result = true;
    else if (as === "file" && command.substituted) result = true;
    else if (command.name !== null && !prints(command.name)) result = false;
    else if (command.becomesCode !== undefined) result = command.becomesCode;
    else {
      passed.push(command);
      at = command.next ? { command: command.next, as: "input" } : command.outer;
    }
  }
  for (const command of passed) command.becomesCode = result ?? false;
  return result ?? false;
}
