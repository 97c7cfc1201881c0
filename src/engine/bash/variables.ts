/**
 * Variables that hold the value of an expression and are calculated with before
 * anything has looked at them: `n=<+a.b>; echo $((n + 1))`. Only this plain form is
 * seen; a script that passes the value through another variable, a function or a file is not.
 */
import { isAssignment, type Command } from "./command.ts";
import { plain } from "./programs.ts";
import { CALCULATED } from "./reasons.ts";
import { refuse, type Scanner } from "./scanner.ts";

/** More than people use; a hostile script must not fill a map. */
const MAX_UNCHECKED = 1_000;
const DECLARERS = new Set(["declare", "typeset", "local", "readonly", "export"]);
/** Commands that repeat a variable without looking at it. */
const REPEATERS = new Set(["echo", "printf", ":", "for", ...DECLARERS]);

/** A word has ended; when it assigns, the variable is new. */
export function assigned(scanner: Scanner, command: Command, word: string, holes: readonly number[]): void {
  if (command.name !== null && !DECLARERS.has(command.name)) return;
  if (!isAssignment(word)) return;
  const name = /^\w+/.exec(plain(word))?.[0] ?? "";
  if (holes.length === 0) scanner.unchecked.delete(name);
  else if (scanner.unchecked.size < MAX_UNCHECKED) scanner.unchecked.set(name, holes);
}

/** Something has looked at the value: it may have refused what is no number. */
export function checked({ unchecked }: Scanner, name: string): void {
  unchecked.delete(name);
}

export function calculated(scanner: Scanner, name: string): void {
  const holes = scanner.unchecked.get(name);
  if (holes) refuse(scanner, holes, CALCULATED);
}

/** A variable is used here; the innermost surroundings that decide say how. */
export function used(scanner: Scanner, name: string): void {
  if (!scanner.unchecked.has(name)) return;
  for (let index = scanner.frames.length - 1; index >= 0; index--) {
    const frame = scanner.frames[index];
    if (frame?.kind === "arithmetic" || (frame?.kind === "parameter" && frame.phase === "arithmetic"))
      return calculated(scanner, name);
    if (frame?.kind === "commands") return usedBy(scanner, frame.command, name);
  }
}

function usedBy(scanner: Scanner, command: Command, name: string): void {
  if (command.test?.arithmetic === true) calculated(scanner, name);
  else if (command.test) command.test.variables.push(name);
  else if (command.redirected === "string") checked(scanner, name);
  else if (command.name !== null && REPEATERS.has(command.name)) command.printed.push(name);
  else if (command.name !== null) checked(scanner, name);
}
