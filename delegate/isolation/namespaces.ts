/**
 * Builds the command that runs a step in name spaces of its own, made by `unshare` without any rights. It is used for
 * steps that have no user of their own. The name spaces are of processes (they see and can end only their own, and all
 * end with the first), of file systems (the delegate's folders and those of other tasks are not there, /tmp and
 * /dev/shm are their own) and of System V IPC. docs/decisions/0019-step-isolation.md
 */
import { spawnSync } from "node:child_process";
import { lstatSync, writeFileSync } from "node:fs";
import type { StepOrder } from "../launcher/messages.ts";
import { paths } from "../task-folder/paths.ts";

/** The programs that give a step its name spaces, and what these hide. Exists only where a trial has succeeded. */
export type Namespaces = {
  readonly unshare: string;
  /** Path of env, which sets the variables that a Bash script cannot set. */
  readonly env: string;
  /** Folders that are hidden from steps, except the step's own folders in them. */
  readonly hidden: readonly string[];
};

/**
 * What the step sees, and the path of its mount table. `files`: its folder in memory, which it can only read;
 * `outputs`: the file for its output variables there, if it has any, the only one that it can write.
 */
type OwnParts = {
  readonly folder: string;
  readonly files: string;
  readonly outputs: string | undefined;
  readonly table: string;
};

const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

const UNSHARE_OPTIONS = [
  ...["--user", "--map-root-user", "--mount", "--propagation", "private", "--pid", "--ipc"],
  ...["--mount-proc", "--fork", "--kill-child"],
];

/**
 * The first process in the name space: arguments are the step's program. When the step has ended it sends TERM to what
 * is left, waits a second for that, and ends, which kills the rest.
 */
const FIRST_PROCESS = `setsid "$@" & exec >/dev/null 2>&1
wait $!; code=$?
set -- /proc/[0-9]*
if [ $# -gt 1 ]; then
  kill -TERM -1; kill -CONT -1; n=0
  while [ $# -gt 1 ] && [ $n -lt 50 ]; do sleep 0.02; n=$((n + 1)); set -- /proc/[0-9]*; done
fi
exit $code`;

/**
 * Of each kind, that one step may have, its own included. The kernel counts those of all steps for their common user.
 */
const MAX_NAMESPACES = 100;

/** In the outer name space of users, whose limits hold for all in it and which no step can change. */
const LIMIT = `for f in /proc/sys/user/max_*_namespaces; do echo ${MAX_NAMESPACES} >"$f"; done 2>/dev/null`;

/**
 * Arguments: table, work, tmp, files, outputs, uid, gid, unshare, and the step's program. Folders are opened before
 * they are hidden. The inner name space of users gives the step its own id back and takes away the rights over the
 * mounts.
 */
const SETUP = `${LIMIT}
exec 3<"$2" 4<"$3" 5<"$4" 6<"$5" && mount -c -a -T "$1" && cd "$2" && exec 3<&- 4<&- 5<&- 6<&- || exit 126
u=$6 g=$7 unshare=$8; shift 8
exec "$unshare" --user --map-user="$u" --map-group="$g" -- /bin/sh -c '${FIRST_PROCESS.replaceAll("'", `'\\''`)}' sh "$@"`;

/** Prefix of variables that carry one of the step's, as `name=value`. */
const CARRIER = "railhead_";

/**
 * Arguments: the step's program. No program before this one may follow the step's variables, such as LD_PRELOAD and
 * PATH: they run before the folders are hidden, and some shells exit because of certain values.
 * Variables are exported by a builtin, since arguments of programs can be read by every user. Each is unset first: to
 * RANDOM and some others a value is arithmetic, which Bash evaluates as code, until they are.
 */
const RESTORE = [
  `for v in "\${!${CARRIER}@}"; do a+=("\${!v}"); unset -v "$v"; done`,
  'set -- "${a[@]}" "" "$@"; unset -v a v OLDPWD SHLVL PATH',
  'while [ "$1" ]; do unset -v -- "${1%%=*}"; export -- "$1"; shift; done 2>/dev/null',
  'shift; exec -- "$@"',
].join("\n");

/** Bash sets these itself and ends a script that does; POSIXLY_CORRECT would change how RESTORE is read. */
const NOT_BY_BASH = /^(?:UID|EUID|PPID|SHELLOPTS|BASHOPTS|BASHPID|BASH_VERSINFO|POSIXLY_CORRECT)$/;

/** Whether the kernel permits these name spaces for the user. */
export function permitsNamespaces(unshare: string, ids: { readonly uid: number; readonly gid: number }): boolean {
  const { uid, gid } = ids;
  const inner = `mount -t tmpfs none /dev/shm && exec "$0" --user --map-user=${uid} --map-group=${gid} -- setsid true`;
  const tried = spawnSync(unshare, [...UNSHARE_OPTIONS, "/bin/sh", "-c", inner, unshare], {
    stdio: "ignore",
    cwd: "/",
    env: { PATH: SYSTEM_PATH },
    ...(process.getuid?.() === 0 ? ids : {}),
  });
  return tried.status === 0;
}

type StepNamespaces = {
  readonly namespaces: Namespaces;
  /** By absolute path. */
  readonly bash: string;
  readonly parts: OwnParts;
  /** Of the step in its name spaces. */
  readonly ids: { readonly uid: number; readonly gid: number };
};

/** Changes the order to start the step in its own name spaces. @throws the system's error */
export function withStepNamespaces(order: StepOrder, { namespaces, bash, parts, ids }: StepNamespaces): StepOrder {
  const { unshare, env, hidden } = namespaces;
  const { folder, files, outputs, table } = parts;
  const { uid, gid } = ids;
  const { work, tmp } = paths(folder);
  const lines = [
    ...sessionFolders(uid).map(({ path, mode }) => tmpfsLine(path, `mode=${mode}`)),
    ...hidden.map((path) => tmpfsLine(path, "mode=755,size=1m")),
    tmpfsLine("/dev/shm", "mode=1777"),
    bindLine(4, "/tmp"),
    bindLine(4, "/var/tmp"),
    bindLine(3, work),
    bindLine(4, tmp),
    // The script and the secret files can be read there; no entry can be made, changed or removed.
    bindLine(5, files, "bind,ro,nosuid,nodev,noexec"),
    ...(outputs === undefined ? [] : [`/proc/self/fd/6 ${escapeFstab(outputs)} none bind 0 0\n`]),
  ];
  writeFileSync(table, lines.join(""), { mode: 0o644, flag: "wx" });
  const variables = Object.entries(order.env);
  const carried = variables.filter(([name]) => !NOT_BY_BASH.test(name));
  const others = variables.filter(([name]) => NOT_BY_BASH.test(name)).map(([name, value]) => `${name}=${value}`);
  const program = others.length === 0 ? order.command : [env, ...others, ...order.command];
  const restored = [bash, "-p", "-c", RESTORE, "bash", ...program];
  const given = [table, work, tmp, files, outputs ?? "/dev/null", String(uid), String(gid), unshare];
  return {
    ...order,
    command: [unshare, ...UNSHARE_OPTIONS, "/bin/sh", "-c", SETUP, "sh", ...given, ...restored],
    env: {
      PATH: SYSTEM_PATH,
      ...Object.fromEntries(carried.map(([name, value], nth) => [`${CARRIER}${nth}`, `${name}=${value}`])),
    },
  };
}

/** A line of the mount table for an empty folder. */
const tmpfsLine = (target: string, options: string): string =>
  `railhead ${escapeFstab(target)} tmpfs ${options},X-mount.mkdir 0 0\n`;

/** A line of the mount table that shows an open folder at another path. */
const bindLine = (fd: number, target: string, options = "bind"): string =>
  `/proc/self/fd/${fd} ${escapeFstab(target)} none ${options},X-mount.mkdir 0 0\n`;

/**
 * Folders with the sockets of a user's services, folders that every user can write to, and the one of message queues.
 */
const sessionFolders = (uid: number): readonly { readonly path: string; readonly mode: string }[] =>
  [
    { path: `/run/user/${uid}`, mode: "700" },
    { path: "/run/lock", mode: "1777" },
    { path: "/dev/mqueue", mode: "1777" },
  ].filter(({ path }) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());

/** Escapes a path as in fstab(5). */
const escapeFstab = (path: string): string =>
  path.replaceAll(/[\\ \t\n#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
