import { type Files, isTest } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

const WRITE = /\b(?:insert\s+into|update|delete\s+from|lock\s+table)\s+(?:only\s+)?(\w+)/gi;
const READ = /\b(?:from|join)\s+(?:only\s+)?(\w+)/gi;

/** Names of the tables in a schema. */
export const tablesIn = (schema: string): ReadonlySet<string> =>
  new Set([...schema.matchAll(/create table (?:public\.)?(\w+)/gi)].map(([, name = ""]) => name));

/**
 * Reports tables that stores of several slices write, with the key `table`, and tables that another slice reads, with
 * the key `slice reads table`.
 */
export function tableViolations(files: Files, tables: ReadonlySet<string>): readonly Violation[] {
  const writers = slicesBy(files, tables, WRITE);
  const readers = slicesBy(files, tables, READ);
  return [
    ...[...writers]
      .filter(([, slices]) => slices.size > 1)
      .map(([table, slices]) => ({ key: table, message: `${table} is written by ${[...slices].join(" and ")}` })),
    ...[...readers].flatMap(([table, slices]) =>
      [...slices]
        .filter((slice) => writers.get(table)?.has(slice) === false)
        .map((slice) => ({ key: `${slice} reads ${table}`, message: `src/${slice} reads ${table}` })),
    ),
  ];
}

/** The slices that name each table in such a statement. */
function slicesBy(
  files: Files,
  tables: ReadonlySet<string>,
  statement: RegExp,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [file, text] of files) {
    const [, slice] = /^src\/(\w+)\/store(?:\/|\.ts$)/.exec(file) ?? [];
    if (slice === undefined || isTest(file)) continue;
    for (const [, table = ""] of text.matchAll(statement))
      if (tables.has(table)) found.set(table, (found.get(table) ?? new Set()).add(slice));
  }
  return found;
}
