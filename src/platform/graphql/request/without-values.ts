/**
 * Removes values from errors about a request, because a value may be a secret and callers log answers. The
 * description and the place stay.
 */
import { GraphQLError } from "graphql";

const VARIABLE = /^Variable "\$\w+" got invalid value(?= )/;

/** The message of an error before the execution, without the values that the caller sent. */
export function messageWithoutValues({ message, originalError }: GraphQLError): string {
  const variable = VARIABLE.exec(message)?.[0];
  if (variable === undefined) return unquoted(message);
  // `<variable> <value> at "<path>"; <reason>`: parsed from its end, because the value may contain anything.
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
    // The reason is a sentence of the scalar (builder.ts), not the caller's text.
    .replace(/^(Expected value of type "Long!?"), found [^]*; (Long takes a whole number[a-z0-9 ]*\.)$/, "$1; $2")
    .replace(/^(Expected value of type "[^"]*"), found [^]*$/, "$1.");
