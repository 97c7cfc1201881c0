import { mayWriteSql, storeNames } from "../../../scripts/import-rules.ts";
import { type Files, isTest } from "../../../scripts/lib/files.ts";
import { parse } from "../../../scripts/lib/parse.ts";
import { layerOf } from "./imports.ts";
import type { Violation } from "./settle.ts";

/**
 * What a statement looks like. Each pattern takes lower case or capitals but not "Select …",
 * which is how a sentence begins. The last one finds a fragment by its placeholder.
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

/** Statements outside the files that may hold them. */
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
