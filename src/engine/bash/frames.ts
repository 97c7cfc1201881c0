import { newCommand, type Command, type Sink } from "./command.ts";

/** Where a `case` command stands: before `in`, before the `)` of a pattern, or after it. */
export type CasePhase = "word" | "pattern" | "body";

/** A here-document that has been announced and whose body begins after the line. */
export type Heredoc = {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripTabs: boolean;
  /** The delimiter's place in the text, with its quotes. */
  readonly from: number;
  readonly to: number;
};
/** … and the command that reads it. */
export type Pending = { readonly heredoc: Heredoc; readonly reader: Command };

/** What the scanner is inside of. The innermost frame decides what a character means. */
export type Frame =
  | {
      readonly kind: "commands";
      /** What ends it; empty for the script itself and for a text between backquotes. */
      readonly closes: "" | ")";
      /** Words without a command, as in an array; `keyed`: the array is associative. */
      readonly list: false | "indexed" | "keyed";
      command: Command;
      /** Where the output of its commands goes. */
      readonly outer: Sink | null;
      /** `{`, `if`, `do` and `case` that are open: a pipe after their end takes what the commands inside put out. */
      readonly groups: Command[];
      readonly cases: CasePhase[];
      /** Bodies begin after the line; a substitution reads its own and leaves those of the line around it. */
      readonly pending: Pending[];
    }
  /** "…", or $"…", which Bash translates. */
  | { readonly kind: "double"; readonly isTranslated?: true }
  /** `((…))`, `$((…))`, `$[…]` and the subscript in `${a[…]}`; with `key` that of an associative array, which is text. */
  | {
      readonly kind: "arithmetic";
      readonly opens: "(" | "[";
      readonly closes: ")" | "]";
      readonly key: boolean;
      depth: number;
    }
  /** `${…}`: inside double quotes or not, and which part of it is being read. */
  | {
      readonly kind: "parameter";
      readonly quoted: boolean;
      name: string;
      phase: "operator" | "default" | "pattern" | "arithmetic";
    }
  /** The body of a here-document. */
  | { readonly kind: "heredoc"; readonly reader: Command };

export type Commands = Frame & { readonly kind: "commands" };
export type Parameter = Frame & { readonly kind: "parameter" };
export type Arithmetic = Frame & { readonly kind: "arithmetic" };

export const commands = (closes: Commands["closes"], outer: Sink | null): Commands => ({
  kind: "commands",
  closes,
  list: false,
  command: newCommand(null, outer),
  outer,
  groups: [],
  cases: [],
  pending: [],
});

/** Parentheses that are no substitution: a subshell, or with `list` the words of an array. */
export const parentheses = ({ pending, command }: Commands, list: Commands["list"]): Commands => {
  const outer: Sink = { command, as: "argument" };
  return { ...commands(")", outer), list, command: newCommand(list ? "" : null, outer), pending };
};

/** Begins the next command of a frame; with `from` a pipe leads to it. */
export function nextCommand(frame: Commands, from?: Command): void {
  const group = frame.groups.at(-1);
  const outer: Sink | null = group ? { command: group, as: "argument" } : frame.outer;
  frame.command = newCommand(frame.list ? "" : null, outer, from !== undefined);
  if (from) from.next = frame.command;
}
