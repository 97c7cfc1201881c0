import { mayWriteSql, storeNames } from "../../../scripts/lib/file-rules.ts";
import { type Files, isTest } from "../../../scripts/lib/files.ts";
import { parse } from "../../../scripts/lib/parse.ts";
import { layerOf } from "./imports.ts";
import type { Violation } from "./violations.ts";

/**
 * Patterns of SQL statements, in lower case or capitals. "Select …" does not match, since sentences begin like this.
 * The last pattern finds a fragment by its placeholder.
 */
const SQL: readonly RegExp[] = [
  /^\s*(with|WITH)\s+(recursive\s+|RECURSIVE\s+)?\S+\s+(as|AS)\b/,
  /\b(select|SELECT)\s[^]*\s(from|FROM)\s/,
  /^\s*(select|SELECT)\s+(\d|[\w.]+\()/,
  /\b(insert\s+into|INSERT\s+INTO|delete\s+from|DELETE\s+FROM)\s+\S/,
  /\b(update|UPDATE)\s+\S+(\s+\w+)?\s+(set|SET)\s/,
  /^\s*(create|CREATE|alter|ALTER|drop|DROP|truncate|TRUNCATE)\s+(table|TABLE|index|INDEX|view|VIEW|schema|SCHEMA)\s/,
  /\b(where|WHERE|and|AND|set|SET|values|VALUES)\b[^]*\$(\d|\?)/,
];

export const looksLikeSql = (text: string): boolean => SQL.some((pattern) => pattern.test(text));

/** Reports SQL outside of the files that may contain it. */
export function sqlViolations(files: Files): readonly Violation[] {
  return [...files].flatMap(([file, text]) => {
    if (isTest(file) || mayHoldSql(file)) return [];
    return parse(file, text)
      .texts.filter((found) => looksLikeSql(found.text))
      .map(({ text: found, line }) => ({
        key: file,
        message: `${file}:${line} holds SQL ("${found.trim().slice(0, 40)}…"): move the statement to the slice's store.ts`,
      }));
  });
}

function mayHoldSql(file: string): boolean {
  if (mayWriteSql.some((place) => file.startsWith(place))) return true;
  return storeNames.test(file.slice(layerOf(file)?.at.length ?? 0));
}
