import { newCommand, type Command } from "./command.ts";

/** Where a `case` command stands: before `in`, before the `)` of a pattern, or after it. */
export type CasePhase = "word" | "pattern" | "body";

/** A here-document that has been announced and whose body begins after the line. */
export type Heredoc = { readonly delimiter: string; readonly quoted: boolean; readonly stripTabs: boolean };

/** What the scanner is inside of. The innermost frame decides what a character means. */
export type Frame =
  | {
      readonly kind: "commands";
      /** What ends it; empty for the script itself. */
      readonly closes: "" | ")" | "`";
      /** Words without a command, as in an array. */
      readonly list: boolean;
      command: Command;
      readonly cases: CasePhase[];
      /** Bodies begin after the line; a substitution reads its own and leaves those of the line around it. */
      readonly pending: Heredoc[];
    }
  /** "…" */
  | { readonly kind: "double" }
  /** `((…))`, `$((…))`, `$[…]` and the subscript in `${a[…]}` */
  | { readonly kind: "arithmetic"; readonly opens: "(" | "["; readonly closes: ")" | "]"; depth: number }
  /** `${…}`: inside double quotes or not, and which part of it is being read. */
  | { readonly kind: "parameter"; readonly quoted: boolean; phase: "operator" | "word" | "arithmetic" }
  /** The body of a here-document that expands. */
  | { readonly kind: "heredoc" };

export type Commands = Frame & { readonly kind: "commands" };
export type Parameter = Frame & { readonly kind: "parameter" };
export type Arithmetic = Frame & { readonly kind: "arithmetic" };

export const commands = (closes: Commands["closes"]): Commands => ({
  kind: "commands",
  closes,
  list: false,
  command: newCommand(),
  cases: [],
  pending: [],
});

/** Parentheses that are no substitution: a subshell, or with `list` the words of an array. */
export const parentheses = ({ pending }: Commands, list: boolean): Commands => ({
  kind: "commands",
  closes: ")",
  list,
  command: newCommand(list ? "" : null),
  cases: [],
  pending,
});
