import { MAX_CORE_LINES, MAX_LINES } from "../../../scripts/lib/file-rules.ts";
import { type Files, isTest } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

const isGenerated = (file: string): boolean => file.startsWith("api/") || file.endsWith(".gen.ts");

/** Reports files that are too long, and src/core if all its files together are too long. */
export function sizeViolations(files: Files): readonly Violation[] {
  const sizes = [...files]
    .filter(([file]) => !isTest(file) && !isGenerated(file))
    .map(([file, text]) => {
      return { file, lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0) };
    });
  const long = sizes
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ file, lines }) => ({
      key: file,
      message: `${file} has ${lines} lines, more than ${MAX_LINES}: split it by noun or verb`,
    }));
  const core = sizes.filter(({ file }) => file.startsWith("src/core/")).reduce((sum, { lines }) => sum + lines, 0);
  if (core <= MAX_CORE_LINES) return long;
  const message = `src/core has ${core} lines, more than ${MAX_CORE_LINES}: what one slice needs belongs to that slice`;
  return [...long, { key: "src/core/", message }];
}
