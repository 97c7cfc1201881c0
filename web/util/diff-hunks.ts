import type { DiffLine } from "./line-diff.ts";

export type DiffPart =
  | { readonly kind: "lines"; readonly lines: readonly DiffLine[] }
  /** Equal lines far from any change. */
  | { readonly kind: "folded"; readonly lines: readonly DiffLine[] };

/** Folds equal lines that are more than `context` lines away from a change. */
export function foldUnchanged(lines: readonly DiffLine[], context = 3): readonly DiffPart[] {
  const isShown = lines.map(() => false);
  for (const [index, { kind }] of lines.entries())
    if (kind !== "same")
      for (let near = Math.max(0, index - context); near <= Math.min(lines.length - 1, index + context); near += 1)
        isShown[near] = true;
  const parts: { kind: DiffPart["kind"]; lines: DiffLine[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const kind = isShown[index] === true ? "lines" : "folded";
    const last = parts.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  // A fold of one line would take as much room as the line.
  return parts.map((part) => (part.lines.length === 1 ? { ...part, kind: "lines" } : part));
}
