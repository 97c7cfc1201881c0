/**
 * Tests once, at the start, which isolation of steps this machine permits (docs/decisions/0019-step-isolation.md), and
 * builds the command that starts the launcher with this isolation. The cost arises once, not for each step.
 */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import type { LauncherCommand } from "../launcher/command.ts";
import type { TerminationMethod } from "../processes/terminate.ts";
import { type Namespaces, permitsNamespaces } from "./namespaces.ts";
import { findProgram } from "../tasks/step-command.ts";
import type { StepOwner, StepUser } from "./step-user.ts";
import { type UserDatabase, writeUserDatabase } from "./user-database.ts";

/**
 * What this machine and the operator's options permit. `findIsolation` makes it; `withNamespaces` adds the name
 * spaces.
 */
export type Isolation = {
  /**
   * Path of setpriv: programs that it starts cannot gain rights by set-user-id files. Undefined where that does not
   * work.
   */
  readonly setpriv: string | undefined;
  /** Path of unshare, which creates a mount name space; undefined where that is not permitted. */
  readonly unshare: string | undefined;
  readonly mayGainPrivileges: boolean;
  /** For steps without a user of their own; undefined where the kernel does not permit name spaces. */
  readonly namespaces: Namespaces | undefined;
};

const MAIN = new URL("../launcher/main.ts", import.meta.url).pathname;

/**
 * A change of the user interrupts all threads of the launcher, and it changes twice for each step. It has no other use
 * for V8's worker threads.
 */
const FEW_THREADS = ["--v8-pool-size=0"];

/** Disables core dumps, which would hold secrets, unless a step enables them. */
const LIMITS = "ulimit -S -c 0";
/**
 * Arguments: passwd, group, a folder for message queues or nothing, and what to start. A file of the machine that takes
 * no mount any more leaves steps without names: one that is itself a mount, and was replaced where it comes from.
 */
const WITH_USERS = `mount --bind "$1" /etc/passwd; mount --bind "$2" /etc/group
[ -z "$3" ] || mount -t mqueue railhead "$3" 2>/dev/null; shift 3; ${LIMITS}; exec "$@"`;
const PLAIN = `${LIMITS}; exec "$@"`;

/** Tests what this machine permits. */
export function findIsolation(isRoot: boolean, mayGainPrivileges: boolean): Isolation {
  const setpriv = findProgram("setpriv");
  const unshare = findProgram("unshare");
  const priv = isRoot ? ["--ruid", String(process.getuid?.() ?? 0)] : [];
  return {
    setpriv: setpriv !== undefined && succeeds([setpriv, "--no-new-privs", ...priv, "true"]) ? setpriv : undefined,
    unshare:
      isRoot &&
      unshare !== undefined &&
      succeeds([unshare, ...NAMESPACE, "mount", "--bind", "/etc/group", "/etc/group"])
        ? unshare
        : undefined,
    mayGainPrivileges,
    namespaces: undefined,
  };
}

/** @param hidden folders that no step may see */
export function withNamespaces(isolation: Isolation, user: StepUser, hidden: readonly string[]): Isolation {
  const unshare = findProgram("unshare");
  const env = findProgram("env");
  // `sudo` does not work in a user name space.
  if (user.separation === "own users" || isolation.mayGainPrivileges || !unshare || !env) return isolation;
  const ids = user.allocate();
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (ids === undefined && self.uid === 0) return isolation;
  const isPermitted = permitsNamespaces(unshare, ids ?? self);
  if (ids) user.release(ids);
  return isPermitted ? { ...isolation, namespaces: { unshare, env, hidden } } : isolation;
}

const NAMESPACE = ["--mount", "--propagation", "slave"];

const succeeds = ([program = "", ...args]: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: "ignore", env: { PATH: SYSTEM_PATH } }).status === 0;

const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns how the processes of a task with an owner are terminated. */
export const createTerminationMethodOf =
  ({ setpriv, namespaces }: Isolation) =>
  (owner: StepOwner | undefined): TerminationMethod => {
    if (namespaces) return "namespace";
    return owner?.ownUser && setpriv !== undefined ? "user" : "search";
  };

type LauncherCommandDeps = {
  readonly user: StepUser;
  readonly database: () => UserDatabase | undefined;
  /** Makes the folder that shows POSIX message queues in the launcher, on machines that do not. */
  readonly queues: () => string | undefined;
};

/** The command that starts a launcher; `version` changes when the machine's users do. */
export function launcherCommand(
  { setpriv, unshare, mayGainPrivileges }: Isolation,
  { user, database, queues }: LauncherCommandDeps,
): () => LauncherCommand {
  // The real user is one of the process alone: a launcher that kills a step's user also signals its own real user.
  const allocate = (before: readonly string[], files: readonly string[]): ReturnType<LauncherCommand["allocate"]> => {
    const id = user.allocateLauncherId();
    const privileges = [
      ...(mayGainPrivileges ? [] : ["--no-new-privs"]),
      ...(id === undefined ? [] : ["--ruid", String(id)]),
    ];
    const launcher = [process.execPath, ...FEW_THREADS, MAIN, ...files];
    const apart =
      setpriv === undefined || privileges.length === 0 ? launcher : [setpriv, ...privileges, "--", ...launcher];
    return {
      argv: [...before, ...apart],
      release: () => {
        if (id !== undefined) user.release({ uid: id, gid: id, ownUser: true });
      },
    };
  };
  let version = "";
  let before: readonly string[] = [];
  let files: readonly string[] = [];
  return () => {
    const users = database();
    // A launcher from the time without user ids gets a successor with one of its own.
    const now = `${user.fullFolder ?? ""} ${users ? fileVersions(users.sources) : ""}`;
    if (now !== version) {
      if (users && unshare !== undefined) {
        const { passwd, group } = writeUserDatabase(users);
        before = [unshare, ...NAMESPACE, "/bin/sh", "-c", WITH_USERS, "sh", passwd, group, queues() ?? ""];
        files = [passwd, group];
      } else {
        before = ["/bin/sh", "-c", PLAIN, "sh"];
        files = [];
      }
      version = now;
    }
    return { version, allocate: () => allocate(before, files) };
  };
}

/** Identifies the versions of the files: programs that change users replace the file. */
const fileVersions = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return `${stat?.ino}.${stat?.mtimeMs}.${stat?.size}`;
    })
    .join(" ");
