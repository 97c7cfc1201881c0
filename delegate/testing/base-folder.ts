import { mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Where folders are made that steps and tests share. Steps of an ordinary user have a /tmp of their own each. */
export function baseFolder(): string {
  if (process.geteuid?.() === 0) return tmpdir();
  const folder = join(homedir(), ".cache");
  mkdirSync(folder, { recursive: true });
  return folder;
}
