import { type Layer, layers } from "./import-rules.ts";
import { projectPaths } from "./lib/files.ts";
import { between, type Generator, markdownTable } from "./lib/generated.ts";

/** One row for each layer that exists: where it is, what it is for, what it may import. */
export function importTable(known: readonly Layer[]): string {
  const names = new Set(known.map(({ name }) => name));
  const rows = known.map(({ at, what, may, outside }) => {
    const ours = may === "all" ? "everything" : may.filter((name) => names.has(name)).join(", ") || "nothing";
    const npm = outside === "all" ? "any" : outside.join(", ") || "nothing";
    return [`\`${at}\``, what, ours, npm];
  });
  return markdownTable(["Place", "What it is", "May import of ours", "From outside"], rows);
}

export const map: Generator = {
  file: "docs/map.md",
  make: (current) => {
    // Files, not folders: an empty folder is in nobody's clone.
    const files = projectPaths();
    const present = layers.filter(({ at }) => files.some((file) => file.startsWith(at)));
    return between("imports", current, importTable(present));
  },
};
