import { readCode, type Files } from "../lib/files.ts";
import { between, type Generator } from "../lib/generated.ts";
import { declaredProblems, type Declared } from "../lib/problem-tables.ts";

/** All problem codes in Markdown: one section for each status and public code, with a list sorted by problem code. */
export function errorsList(files: Files): string {
  const groups = Object.entries(Object.groupBy(declaredProblems(files), ({ status, wire }) => `${status} \`${wire}\``));
  return groups
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([heading, group = []]) => `## ${heading}\n\n${items(group)}`)
    .join("\n\n");
}

const items = (group: readonly Declared[]): string =>
  group
    .toSorted((a, b) => (a.code < b.code ? -1 : 1))
    .map(({ code, message }) => wrapped(`- \`${code}\` ${escaped(message)}`))
    .join("\n");

/** Escapes Markdown: `<+input>` would be a tag and `*` emphasis. */
const escaped = (message: string): string => message.replaceAll(/[\\<*_`[\]]/g, "\\$&");

const COLUMNS = 118;

/** Wraps a list item at spaces and indents the following lines. */
function wrapped(item: string): string {
  let column = -1;
  return item
    .split(" ")
    .map((word, at) => {
      const fits = column + 1 + word.length <= COLUMNS;
      column = fits ? column + 1 + word.length : 2 + word.length;
      if (at === 0) return word;
      return fits ? ` ${word}` : `\n  ${word}`;
    })
    .join("");
}

export const errors: Generator = {
  file: "docs/errors.md",
  make: (current) => between("errors", current, errorsList(readCode())),
};
