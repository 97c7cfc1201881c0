import { type Layer, type LayerName, layers, slices } from "../import-rules.ts";
import { projectPaths } from "../lib/files.ts";
import { between, type Generator, markdownTable } from "../lib/generated.ts";

/** The Markdown table of layers: place, content, allowed imports. */
export function importTable(existing: readonly Layer[]): string {
  const names = new Set(existing.map(({ name }) => name));
  const rows = existing.map(({ at, what, may, outside }) => {
    const ours = may === "all" ? "everything" : listOf(may.filter((name) => names.has(name))) || "nothing";
    const npm = outside === "all" ? "any" : outside.join(", ") || "nothing";
    return [`\`${at}\``, what, ours, npm];
  });
  return markdownTable(["Place", "Content", "May import of ours", "From outside"], rows);
}

/** The names of layers. The slices from the first one to X are written as `slices up to X`. */
function listOf(may: readonly LayerName[]): string {
  const listed = slices.map(([name]) => name as LayerName).filter((name) => may.includes(name));
  const isAll =
    listed.length > 2 &&
    slices
      .slice(
        0,
        slices.findIndex(([name]) => name === listed.at(-1)),
      )
      .every(([name]) => may.includes(name));
  if (!isAll) return may.join(", ");
  return [...may.filter((name) => !listed.includes(name)), `slices up to ${listed.at(-1)}`].join(", ");
}

export const architecture: Generator = {
  file: "docs/architecture.md",
  make: (current) => {
    // Files, not folders: Git does not store empty folders.
    const files = projectPaths();
    const present = layers.filter(({ at }) => files.some((file) => file.startsWith(at)));
    return between("imports", current, importTable(present));
  },
};
