/**
 * `npm run release` checks that the working tree is ready for a tag and prints the command that creates it. It changes
 * nothing. If the tree is not ready, it prints the reasons and exits with 1.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { root } from "./lib/files.ts";
import { releaseFaults } from "./lib/release.ts";

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });

const { version } = JSON.parse(read("package.json")) as { readonly version: string };
const faults = releaseFaults({
  version,
  changelog: read("CHANGELOG.md"),
  documented: (JSON.parse(read("api/openapi.json")) as { readonly info: { readonly version: string } }).info.version,
  tags: git("tag", "--list").split("\n"),
  changed: git("status", "--porcelain")
    .split("\n")
    .map((line) => line.slice(3))
    .filter(Boolean),
});
if (faults.length === 0) process.stdout.write(`git tag -a v${version} -m "Railhead ${version}"\n`);
else {
  process.stderr.write(faults.map((fault) => `${fault}\n`).join(""));
  process.exitCode = 1;
}
