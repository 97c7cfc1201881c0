/**
 * Variables that hold the value of an expression and are calculated with before
 * anything has looked at them: `n=<+a.b>; echo $((n + 1))`. Only this plain form is
 * seen; a script that passes the value through another variable, a function or a file is not.
 */
import { DECLARERS, isAssignment, type Command, type Taken } from "./command.ts";
import { EVALUATED_VARIABLE, INTEGER_VARIABLE, plain } from "./programs.ts";
import { INTEGER, NAME, PROMPT } from "./reasons.ts";
import { rule, type Scanner } from "./scanner.ts";

/** More than people use; a hostile script must not fill a map. */
const MAX_VARIABLES = 1_000;
/** Commands that repeat a variable without looking at it. */
const REPEATERS = new Set(["echo", "printf", ":", "for", ...DECLARERS]);

/** A word has ended; when it assigns, the variable is new. */
export function assigned(scanner: Scanner, command: Command, { word, holes }: Taken): void {
  if (command.name !== null && !DECLARERS.has(command.name)) return;
  const name = /^\w+/.exec(plain(word))?.[0] ?? "";
  const letter = /[Ain]/.exec(command.flags)?.[0];
  if (letter !== undefined && name !== "" && scanner.declared.size < MAX_VARIABLES) scanner.declared.set(name, letter);
  if (!isAssignment(word)) return;
  if (holes.length === 0) scanner.unchecked.delete(name);
  else if (scanner.unchecked.size < MAX_VARIABLES) scanner.unchecked.set(name, holes);
  const declared = scanner.declared.get(name);
  if (EVALUATED_VARIABLE.test(word)) rule(scanner, holes, PROMPT);
  else if (declared === "i" || INTEGER_VARIABLE.test(name)) rule(scanner, holes, INTEGER);
  else if (declared === "n") rule(scanner, holes, NAME);
}

/** Something has looked at the value: it may have refused what is no number. */
export function checked({ unchecked }: Scanner, name: string): void {
  unchecked.delete(name);
}

/** A variable's value has to be an integer, as Bash calculates with it. */
export function calculated(scanner: Scanner, name: string): void {
  const holes = scanner.unchecked.get(name);
  if (holes) rule(scanner, holes, INTEGER);
}

/** A variable is used here; the innermost surroundings that decide say how. */
export function used(scanner: Scanner, name: string): void {
  if (!scanner.unchecked.has(name)) return;
  for (let index = scanner.frames.length - 1; index >= 0; index--) {
    const frame = scanner.frames[index];
    if ((frame?.kind === "arithmetic" && !frame.key) || (frame?.kind === "parameter" && frame.phase === "arithmetic"))
      return calculated(scanner, name);
    if (frame?.kind === "commands") return usedBy(scanner, frame.command, name);
  }
}

function usedBy(scanner: Scanner, command: Command, name: string): void {
  if (command.test?.ruling === INTEGER) calculated(scanner, name);
  else if (command.test) command.test.variables.push(name);
  else if (command.redirected === "string") checked(scanner, name);
  else if (command.name !== null && REPEATERS.has(command.name)) command.printed.push(name);
  else if (command.name !== null) checked(scanner, name);
}
