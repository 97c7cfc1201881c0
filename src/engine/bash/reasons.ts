/** Languages whose code a command may get, as far as a line can be rewritten for them. */
export type Language =
  | "shell"
  | "evaluated"
  | "sequence"
  | "sed"
  | "awk"
  | "jq"
  | "psql"
  | "python"
  | "perl"
  | "ruby"
  | "node"
  | "php";

/** Why an expression may not stand where it stands, and what to write instead. */
export type Reason = { readonly text: string; readonly language?: Language };

/** What a place says of an expression: the value has to be an integer, or it may not stand there. */
export type Ruling = typeof INTEGER | Reason;

/** Bash evaluates the value in arithmetic, which is safe for an integer only. */
export const INTEGER = "integer";

export const DEFAULT_QUOTED: Reason = {
  text: "single quotes in a default value inside double quotes are characters of the value: remove them",
};
export const ANSI_IN_PARAMETER: Reason = {
  text: "Bash versions read $'…' inside \"${…}\" in different ways: assign the expression to a variable first",
};
export const ARITHMETIC_QUOTED: Reason = {
  text: "Bash takes no single quotes in arithmetic and in the subscript of an indexed array: remove them, or declare the array with declare -A in this script",
};
export const TRANSLATED: Reason = {
  text: 'Bash versions read substitutions inside $"…" in different ways: remove the dollar sign before the quotes',
};
export const BACKQUOTED: Reason = {
  text: "Bash reads backslashes between backquotes inside double quotes in different ways: write $(…) for the backquotes",
};
export const HEREDOC_DELIMITER: Reason = {
  text: "Bash takes the delimiter of a here-document literally: write a fixed word instead of the expression",
};
export const ESCAPED: Reason = {
  text: "the backslash before the expression would keep Bash from expanding it: remove the backslash",
};
export const AFTER_DOLLAR: Reason = {
  text: "a '$' directly before the expression would become part of a variable's name: write \\$ for the character itself",
};
export const UNCLEAR: Reason = {
  text: "a '((' before it is not closed by '))', so Bash may read it in two ways: write '( (' with a space between",
};
export const CONTINUED: Reason = {
  text: "a backslash at the end of a line before it cuts an operator of Bash in two: write the operator on one line",
};
export const SECRET_INTEGER: Reason = {
  text: "Bash calculates with the value, and that of a secret cannot be checked to be an integer: assign the secret to a variable and check it first",
};
export const DESCRIPTOR: Reason = {
  text: 'Bash expands the word after >& twice, so a hostile value could run commands: write > "…" 2>&1 for a file',
};
export const NAME: Reason = {
  text: "Bash evaluates what stands in place of a variable's name, so a hostile value could run commands: write the name itself",
};
export const PARAMETER: Reason = {
  text: "inside ${…} an expression may only stand in a default value, a pattern or an offset: assign it to a variable first",
};
export const SEQUENCE: Reason = {
  text: "Bash expands {1..n} before variables: write $(seq 1 n)",
  language: "sequence",
};
export const COMMAND: Reason = {
  text: "the value alone would say what is run: write the command's name, or choose between names with case",
};
export const SHEBANG: Reason = {
  text: "expressions reach a script as Bash variables, and its first line names another interpreter: pass the value as an environment variable of the step",
};

const code = (who: string, advice: string, language?: Language): Reason => ({
  text: `${who} would run the value as code: ${advice}`,
  ...(language && { language }),
});

const QUOTED = "assign the expression to a variable v and write ${v@Q} in its place";
export const EVALUATED = code("Bash", QUOTED, "evaluated");
export const REMOTE = code("the shell of the other host", QUOTED, "evaluated");
export const SHELL = code("the shell", `pass it as an argument, as in bash -c 'echo "$1"' _ "$v"`, "shell");
export const OTHER_SHELL = code("the shell", QUOTED, "evaluated");
export const SHELL_INPUT = code(
  "the shell",
  `pass it as an argument, as in bash -s -- "$v", which the code reads as "$1"`,
);
export const PROMPT = code("Bash", "write a fixed text into this variable, and the value into another one");
export const WORDS = code(
  "the command",
  "pass the value in a variable of the environment or in an argument of its own",
);
export const SED = code("sed", `replace with Bash, as in echo "\${line/__TAG__/"$v"}", or with awk -v v="$v"`, "sed");
export const AWK = code(
  "awk",
  `pass it as -v v="$v" (as v="$v" awk and ENVIRON["v"] if it may hold backslashes)`,
  "awk",
);
export const JQ = code("jq", `pass it as --arg v "$v" and write $v in the program`, "jq");
export const YQ = code("yq", `pass it in the environment, as v="$v" yq, and write strenv(v) in the program`);
export const PSQL = code(
  "the database",
  `pass it as -v v="$v" and write :'v' in SQL that psql reads from its input; with -c it replaces no variables`,
  "psql",
);
export const SQL = code("the database", "use a client that takes the values of a statement apart from its text");
export const PYTHON = code("Python", "pass it as an argument and read sys.argv[1]", "python");
export const PERL = code(
  "Perl",
  "pass it as an argument and read $ARGV[0], or in the environment and read $ENV{v}",
  "perl",
);
export const RUBY = code("Ruby", "pass it as an argument and read ARGV[0]", "ruby");
export const NODE = code("Node.js", "pass it as an argument and read process.argv[1]", "node");
export const PHP = code("PHP", "pass it as an argument and read $argv[1]", "php");
export const INTERPRETER = code("the interpreter", "pass it as an argument or in a variable of the environment");
