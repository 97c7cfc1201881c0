import { readCode, type Files } from "./lib/files.ts";
import { between, type Generator, markdownTable } from "./lib/generated.ts";
import { declaredProblems } from "./lib/problem-tables.ts";

/** The table of all problem codes, sorted by code. */
export function errorsTable(files: Files): string {
  const rows = declaredProblems(files)
    .toSorted((a, b) => (a.code < b.code ? -1 : 1))
    .map(({ code, status, wire, message }) => [`\`${code}\``, String(status), `\`${wire}\``, escaped(message)]);
  return markdownTable(["Code", "HTTP", "On the wire", "Message"], rows);
}

/** Markdown reads `<+input>` as a tag and `*` as emphasis. */
const escaped = (message: string): string => message.replaceAll(/[\\<*_`[\]]/g, "\\$&");

export const errors: Generator = {
  file: "docs/errors.md",
  make: (current) => between("errors", current, errorsTable(readCode())),
};
