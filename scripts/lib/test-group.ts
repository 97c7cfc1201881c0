/** Runs test files one after the other in this process, each as a suite with its path as the name (test-groups.ts). */
import { createRequire } from "node:module";
import { relative } from "node:path";
import { before, describe } from "node:test";

const load = createRequire(import.meta.url);

export function runFiles(files: readonly string[]): void {
  for (const file of files)
    describe(relative(process.cwd(), file), () => {
      // As in a process of its own; test/support/database.ts names databases by it.
      before(() => void (process.argv[1] = file));
      // `import` would return before the file has declared its tests, which then were outside of the suite.
      load(file);
    });
}
