/**
 * Errors about a request quote what was sent, and that may be a secret: callers keep answers in the logs of
 * their jobs. What is wrong and where stays; the value goes.
 */
import { GraphQLError } from "graphql";

const VARIABLE = /^Variable "\$\w+" got invalid value(?= )/;

/** The message of an error that was found before anything ran, without what the caller had sent as a value. */
export function withoutValues({ message, originalError }: GraphQLError): string {
  const variable = VARIABLE.exec(message)?.[0];
  if (variable === undefined) return unquoted(message);
  // `<variable> <value> at "<path>"; <reason>`: read from its end, for the value may hold anything.
  if (!(originalError instanceof GraphQLError)) return `${variable}.`;
  const head = message.slice(0, -originalError.message.length - 2);
  const path = / at "[^"]*"$/.exec(head)?.[0] ?? "";
  return `${variable}${path}; ${unquoted(originalError.message)}`;
}

const unquoted = (reason: string): string =>
  reason
    .replace(/( cannot represent [^:"]*value): [^]*$/, "$1.")
    .replace(/^Value "[^]*" does not exist in ("\w+" enum)\.[^]*$/, "The value does not exist in $1.")
    .replace(/^(Syntax Error: [^"]*\b(?:String|BlockString|Int|Float)) "[^]*$/, "$1.")
    // The reason is a sentence of the scalar's own (builder.ts), and not the caller's.
    .replace(/^(Expected value of type "Long!?"), found [^]*; (Long takes a whole number[a-z0-9 ]*\.)$/, "$1; $2")
    .replace(/^(Expected value of type "[^"]*"), found [^]*$/, "$1.");
