/**
 * The kernel's keyrings. Each user has one, which outlives its processes. Node cannot reach them: where `keyctl`
 * (package keyutils) is not installed they stay.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "./fault.ts";
import { findProgram } from "./run.ts";

/** Takes what those of the users have in their keyrings that have one. */
export async function clearKeyrings(users: readonly number[]): Promise<void> {
  const keyctl = findProgram("keyctl");
  if (keyctl === undefined || users.length === 0) return;
  const withKeys = usersWithKeys(read("/proc/key-users"));
  for (const uid of users)
    if (withKeys.has(uid)) await promisify(execFile)(keyctl, ["clear", "@u"], { uid, gid: uid, cwd: "/", env: {} });
}

/** @param text as /proc/key-users has it: user, uses, keys, … */
export const usersWithKeys = (text: string): ReadonlySet<number> =>
  new Set(
    text
      .split("\n")
      .map((line) => /^\s*(\d+):/.exec(line)?.[1])
      .filter((uid) => uid !== undefined)
      .map(Number),
  );

/**
 * Whether the delegate may have got a session keyring from what started it; all steps would share that. Without
 * `keyctl` another session of the same user is taken for it.
 */
export function mayHaveSessionKeyring(): boolean {
  const keyctl = findProgram("keyctl");
  if (keyctl !== undefined) {
    const { status, stdout } = spawnSync(keyctl, ["rdescribe", "@s"], { encoding: "utf8", env: {} });
    if (status === 0) return !stdout.includes("_uid_ses.");
  }
  return hasSession(read("/proc/keys"), process.getuid?.() ?? 0);
}

/** @param text as /proc/keys has it: id, flags, uses, when it ends, rights, user, group, type, description */
export const hasSession = (text: string, uid: number): boolean =>
  text.split("\n").some((line) => {
    const [, , , , , user, , type, name] = line.trim().split(/\s+/);
    return user === String(uid) && type === "keyring" && name === "_ses:";
  });

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES" || codeOf(error) === "EPERM") return "";
    throw error;
  }
}
