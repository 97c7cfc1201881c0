import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** The folder of the checkout. */
export const root = path.resolve(import.meta.dirname, "../..");

/**
 * Texts by path, relative to the checkout with forward slashes. Checks take it as an argument, so that tests can pass
 * other files.
 */
export type Files = ReadonlyMap<string, string>;

const CODE = /\.(ts|tsx|js)$/;
const TEXT = /\.(ts|tsx|js|mjs|cjs|css|html|md|json|jsonc|sql|ya?ml|graphql|sh)$|^\.ci\/run$|^scripts\/[^.]+$/;

/** All files that git tracks, and all that it neither tracks nor ignores. */
export function projectPaths(): readonly string[] {
  const found = fromGit() ?? walk("");
  return found.filter((file) => statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile()).toSorted();
}

export function readText(wanted: (file: string) => boolean = () => true): Files {
  const texts = projectPaths().filter((file) => TEXT.test(file) && file !== "package-lock.json" && wanted(file));
  return new Map(texts.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
}

export const readCode = (): Files => readText((file) => CODE.test(file));

export const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);

/** Undefined outside a git checkout (an unpacked archive). */
function fromGit(): readonly string[] | undefined {
  // Tests may run as another user than the owner of the checkout. Git only lists names here.
  const args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .split("\0")
      .filter(Boolean);
  } catch {
    return undefined;
  }
}

function walk(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile()) return [file];
    const hidden = entry.name.startsWith(".") && entry.name !== ".ci";
    return entry.isDirectory() && !hidden && entry.name !== "node_modules" ? walk(file) : [];
  });
}
