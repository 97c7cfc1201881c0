/** Debian packages that a test needs. Root installs them if they are missing; other users skip the test. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);
const INSTALL_MS = 300_000;

/** Returns the reason to skip the test, or undefined if the files exist. Throws if the installation failed. */
export async function missingDebianPackage(
  files: readonly string[],
  packages: readonly string[],
): Promise<string | undefined> {
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
  if (still !== undefined) throw new Error(`apt-get has installed ${packages.join(" ")}, but there is no ${still}.`);
  return undefined;
}
