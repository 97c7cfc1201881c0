/** Programs of Debian that a test needs: installed when we may, otherwise the test is skipped and says what is missing. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);
const INSTALL_MS = 300_000;

/** The reason to skip; undefined when the files are there. Throws when they should have been installed and were not. */
export async function debianLacks(files: readonly string[], packages: readonly string[]): Promise<string | undefined> {
  const missing = (): string | undefined => files.find((file) => !existsSync(file));
  const first = missing();
  if (first === undefined) return undefined;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get"))
    return `there is no ${first}; install it, as with: apt-get install ${packages.join(" ")}`;
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const wait = ["-o", "DPkg::Lock::Timeout=240", "-qq"];
  await run("apt-get", [...wait, "update"], options);
  await run("apt-get", [...wait, "install", "-y", "--no-install-recommends", ...packages], options);
  const still = missing();
  if (still !== undefined) throw new Error(`apt-get has installed ${packages.join(" ")}, and yet there is no ${still}`);
  return undefined;
}
