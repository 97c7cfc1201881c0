/** The function that reads XML. */
import { ExpressionError } from "../error.ts";
import { selectXml } from "../documents/xml-path.ts";
import { parseXml } from "../documents/xml-text.ts";
import { type Call, type FunctionRow, pathArgument, row, textArgument } from "./row.ts";

export const XML_FUNCTIONS: readonly FunctionRow[] = [
  row("xml.select(path, text)", "The text of the first node that an XPath selects in an XML text.", {
    example: "<+xml.select('/project/version', '<project><version>1.4</version></project>')>",
    result: "1.4",
    run: select,
  }),
];

function select(call: Call): string {
  const path = pathArgument(call, 0);
  const text = textArgument(call, 1);
  // Parsing costs more for each character than what else reads texts.
  call.spend(text.length >> 4);
  const refuse = (message: string): ExpressionError =>
    new ExpressionError("type", `argument 2 of ${call.name}() ${message}`, call.at);
  const root = parseXml(text, refuse, call.spend);
  const value = selectXml(path, root, call);
  if (value !== undefined) return value;
  throw new ExpressionError("unresolved", `${call.name}() finds nothing at its path`, call.at);
}
