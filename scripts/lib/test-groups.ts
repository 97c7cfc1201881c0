/**
 * Groups of test files that share a process. To load the platform costs more processor time than most of its tests:
 * 1.4 s, and another 0.4 s until it is optimized. Files that use test/support/platform.ts therefore run one after the
 * other in the processes of groups; all other files have a process of their own.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** More files save little loading, and the last groups leave processors idle for longer. */
const MAX_FILES = 10;
const RUNNER = pathToFileURL(join(import.meta.dirname, "test-group.ts")).href;
const USES_PLATFORM = /from "[^"]*\/support\/platform\.ts"/;
/** A group loads its files synchronously, which excludes files with `await` outside of functions. Else Node says so. */
const HAS_TOP_LEVEL_AWAIT = /^(?:await |(?:export )?(?:const|let) (?!.*\basync\b).*\bawait )/m;
/** The comment of a file that changes its process or depends on what else happens in it. */
const OWN_PROCESS = /^\/\/ Runs in a process of its own: \S/m;

/** Writes a module into the folder for each group. Returns what Node's test runner has to run: groups first. */
export function groupTests(files: readonly string[], folder: string): readonly string[] {
  const grouped = files.filter((file) => isShareable(readFileSync(file, "utf8")));
  const shared = new Set(grouped);
  const groups: string[] = [];
  for (let from = 0; from < grouped.length; from += MAX_FILES)
    groups.push(writeGroup(grouped.slice(from, from + MAX_FILES), folder));
  return [...groups, ...files.filter((file) => !shared.has(file))];
}

export function isShareable(text: string): boolean {
  return USES_PLATFORM.test(text) && !HAS_TOP_LEVEL_AWAIT.test(text) && !OWN_PROCESS.test(text);
}

/** The module has the name of the group's first file. Node prints it only if the process itself fails. */
function writeGroup(files: readonly string[], folder: string): string {
  const path = join(folder, `${files[0]?.replaceAll(/[^\w.]+/g, "-")}-and-${files.length - 1}-more.mjs`);
  const absolute = files.map((file) => resolve(file));
  writeFileSync(path, `import { runFiles } from "${RUNNER}";\nrunFiles(${JSON.stringify(absolute)});\n`);
  return path;
}
