import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { ShellTask } from "../protocol/messages.ts";
import { unable } from "./fault.ts";
import type { Descriptors, Owner } from "./folders.ts";
import { paths } from "./journal.ts";
import { COOKIE_NAME } from "./members.ts";
import { bashText, isShellName } from "./outputs.ts";
import { processInfo } from "./processes.ts";
import { SUPERVISOR } from "./supervisor.ts";

/** The programs a step needs, by absolute path: a step's own PATH must not decide about the supervisor. */
export type Tools = { readonly sh: string; readonly bash: string; readonly cat: string };

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** @throws Fault naming the program that is missing */
export function findTools(path: string = DEFAULT_PATH): Tools {
  const find = (name: string): string => {
    const found = [...path.split(delimiter), ...DEFAULT_PATH.split(delimiter)].find((dir) =>
      isProgram(join(dir, name)),
    );
    if (found === undefined) throw unable(`this machine has no ${name}, which running steps needs`);
    return join(found, name);
  };
  return { sh: "/bin/sh", bash: find("bash"), cat: find("cat") };
}

/** Where the steps' own search path has ssh: looked for at each use, so that installing it is enough. */
export const findSsh = (path: string): string | undefined =>
  path
    .split(delimiter)
    .map((folder) => join(folder, "ssh"))
    .find(isProgram);

/** What the supervisor starts, and the variables that it gets beside the usual ones. */
export type Program = {
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};

/** The script, on this machine. */
export const scriptProgram = ({ bash }: Tools, folder: string, { outputs, env }: ShellTask): Program => {
  const at = paths(folder);
  return { command: [bash, "-c", bashText(at.script, at.outputs, outputs), at.script], env };
};

function isProgram(path: string): boolean {
  if (!path.startsWith("/")) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The search path for steps when none is configured. As root the system's usual
 * one: root's own is no matter of its steps, and may name folders closed to
 * them. Otherwise the delegate's, without what npm puts in front of it for its scripts.
 */
export function searchPath(path: string | undefined, isRoot: boolean): string {
  if (isRoot) return DEFAULT_PATH;
  const kept = (path ?? "").split(delimiter).filter((dir) => dir.startsWith("/") && !dir.includes("/node_modules/"));
  return kept.length === 0 ? DEFAULT_PATH : kept.join(delimiter);
}

/** Why a task cannot be started here; undefined when it can. */
export function refusal(work: ShellTask): string | undefined {
  const made = (work.secrets?.env ?? []).map(({ name }) => ({ name, value: "" }));
  const bad = [...work.env, ...made].find(({ name, value }) => !isShellName(name) || value.includes("\0"));
  if (bad) return `The environment variable '${bad.name}' has a name or a value that a shell cannot hold.`;
  if (work.outputs.length > 256 || work.outputs.some(({ name }) => name.length > 256))
    return "A step can have 256 output variables with names of 256 characters at most.";
  return undefined;
}

export type Start = {
  readonly tools: Tools;
  readonly folder: string;
  /** Stay open here. */
  readonly descriptors: Descriptors;
  readonly cookie: string;
  readonly owner: Owner;
  readonly userName: string;
  readonly searchPath: string;
  readonly program: Program;
};

export type Running = {
  readonly child: ChildProcess;
  readonly supervisor: { readonly pid: number; readonly startTime: string };
};

/**
 * Starts the script in a session of its own. It goes on when the delegate ends.
 * @throws the system's error (E2BIG: the environment is too large; EAGAIN: no more processes)
 */
export function start(order: Start): Running {
  const at = paths(order.folder);
  const { tools, program, owner, descriptors } = order;
  const child = spawn(tools.sh, ["-c", SUPERVISOR, "railhead-step", tools.cat, ...program.command], {
    cwd: at.work,
    env: environment(order),
    // Standard error of the supervisor itself goes nowhere: a shell's remarks on killed children are no output of the step.
    stdio: ["ignore", descriptors.output, "ignore", descriptors.journal],
    detached: true,
    ...(owner ? { uid: owner.uid, gid: owner.gid } : {}),
  });
  const pid = child.pid;
  const startTime = pid === undefined ? undefined : processInfo(pid)?.startTime;
  if (pid === undefined || startTime === undefined) {
    // The reason follows as an event, always after this turn.
    child.on("error", () => {});
    throw new Error("the system could not start a process (out of processes, memory or permission)");
  }
  child.unref();
  return { child, supervisor: { pid, startTime } };
}

/** Nothing of the delegate's own environment. The cookie comes last: nothing may replace it. */
function environment({ folder, cookie, userName, program, searchPath: path }: Start): Record<string, string> {
  const at = paths(folder);
  const base = {
    PATH: path,
    HOME: at.work,
    LANG: "C.UTF-8",
    TMPDIR: at.tmp,
    USER: userName,
    LOGNAME: userName,
  };
  // Bash itself starts with OPTIND=1 whatever it is given, but /bin/sh refuses to run with some values.
  const given = program.env.filter(({ name }) => name !== "OPTIND").map(({ name, value }) => [name, value] as const);
  return { ...base, ...Object.fromEntries(given), [COOKIE_NAME]: cookie };
}
