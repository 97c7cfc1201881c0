/**
 * The kernel's keyrings. Each user has two, which outlive its processes. Node cannot reach them: where `keyctl`
 * (package keyutils) is not installed they stay.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "../fault.ts";
import { findProgram } from "../tasks/step-command.ts";

export type Keyrings = {
  /** Users with keys or keyrings; none if `keyctl` is missing. */
  readonly users: () => ReadonlySet<number>;
  /**
   * Empties both keyrings of the user, and resets their permissions to the kernel's defaults.
   * @throws if a step removed its own user's permission to change them: root has it neither
   */
  readonly clear: (uid: number) => Promise<void>;
};

/** The kernel's default permissions of a user's keyrings: everything for the user only. */
const DEFAULT_RIGHTS = "0x1f3f0000";

/** Permissions first: a step may have removed the one to clear, or granted access to other users. */
const COMMANDS = [
  ["setperm", "@u", DEFAULT_RIGHTS],
  ["clear", "@u"],
  ["setperm", "@us", DEFAULT_RIGHTS],
  ["clear", "@us"],
  // The kernel's default: a user's session keyring links to the user's keyring.
  ["link", "@u", "@us"],
] as const;

/** @param keyctl path of the program; undefined if it is not installed */
export const createKeyrings = (keyctl: string | undefined = findProgram("keyctl")): Keyrings => ({
  users: () => (keyctl === undefined ? new Set() : usersWithKeys(readIfPermitted("/proc/key-users"))),
  clear: async (uid) => {
    if (keyctl === undefined) return;
    for (const args of COMMANDS) await promisify(execFile)(keyctl, args, { uid, gid: uid, cwd: "/", env: {} });
  },
});

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
 * Whether the delegate may have inherited a session keyring, which all steps would share. Without
 * `keyctl` a session of another program of the same user also counts.
 */
export function mayHaveSessionKeyring(): boolean {
  const keyctl = findProgram("keyctl");
  if (keyctl !== undefined) {
    const { status, stdout } = spawnSync(keyctl, ["rdescribe", "@s"], { encoding: "utf8", env: {} });
    if (status === 0) return !stdout.includes("_uid_ses.");
  }
  return hasSessionKeyring(readIfPermitted("/proc/keys"), process.getuid?.() ?? 0);
}

/** @param text as /proc/keys has it: id, flags, uses, when it ends, rights, user, group, type, description */
export const hasSessionKeyring = (text: string, uid: number): boolean =>
  text.split("\n").some((line) => {
    const [, , , , , user, , type, name] = line.trim().split(/\s+/);
    return user === String(uid) && type === "keyring" && name === "_ses:";
  });

function readIfPermitted(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES" || codeOf(error) === "EPERM") return "";
    throw error;
  }
}
