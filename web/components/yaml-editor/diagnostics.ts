import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { DocumentFault } from "../../api/api-error.ts";

/** Marks the faults in the text, from their column to the end of the line. Those without a line mark the first one. */
export function diagnosticsOf(doc: Text, faults: readonly DocumentFault[]): readonly Diagnostic[] {
  return faults
    .map((fault): Diagnostic => {
      const line = doc.line(Math.min(Math.max(fault.line ?? 1, 1), doc.lines));
      const from = Math.min(line.from + Math.max((fault.column ?? 1) - 1, 0), line.to);
      const hint = fault.hint === undefined ? "" : `\n${fault.hint}`;
      return {
        from,
        to: Math.max(from, line.to),
        severity: fault.severity ?? "error",
        message: `${fault.message}${hint}`,
      };
    })
    .toSorted((a, b) => a.from - b.from);
}
