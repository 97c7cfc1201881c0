/** Why an expression may not stand where it stands, and what to write instead. */
export const SINGLE_QUOTED =
  "Bash does not expand variables inside single quotes: close them around the expression or use double quotes";
export const ANSI_QUOTED =
  "Bash does not expand variables inside $'…': close the quotes around the expression or use double quotes";
export const QUOTED_HEREDOC =
  "Bash expands nothing in a here-document whose delimiter is quoted: remove the quotes from the delimiter or pass the value through a variable before it";
export const HEREDOC_DELIMITER =
  "Bash takes the delimiter of a here-document literally: write a fixed word instead of the expression";
export const ESCAPED = "the backslash before the expression would keep Bash from expanding it: remove the backslash";
export const AFTER_DOLLAR =
  "a '$' directly before the expression would become part of a variable's name: write \\$ for the character itself";
export const ARITHMETIC =
  "Bash evaluates a value in arithmetic as code, so a hostile value could run commands: assign the expression to a variable, check that it holds a number, then calculate with the variable";
export const UNCLEAR =
  "a '((' before it is not closed by '))', so Bash may read it in two ways: write '( (' with a space between";
export const SUBSCRIPT =
  "Bash evaluates an array subscript as code, so a hostile value could run commands: assign the expression to a variable and check it first";
export const NAME =
  "Bash evaluates what stands in place of a variable's name, so a hostile value could run commands: write the name itself";
export const PARAMETER =
  "inside ${…} an expression may only stand in a default value or a pattern: assign it to a variable first";
export const CODE =
  "the value would be run as code: assign the expression to a variable and let the command read that variable from inside single quotes";
export const COMMAND =
  "the value alone would say what is run: write the command's name, or choose between names with case";
export const REMOTE =
  "the shell of the other host would run the value as code: assign the expression to a variable x and write ${x@Q} in its place";
export const CALCULATED =
  "the script calculates with the variable that gets this value, and Bash evaluates it as code: check first that it holds a number, as in [[ $x =~ ^[0-9]+$ ]] || exit 1";
export const SHEBANG =
  "expressions reach a script as Bash variables, and its first line names another interpreter: pass the value as an environment variable of the step";
