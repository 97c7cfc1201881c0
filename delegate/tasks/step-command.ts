/** Makes the order for the launcher: programs of this machine, command line, environment and search path of a step. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { ShellTask } from "../../protocol/work/shell.ts";
import { startError } from "../fault.ts";
import type { Owner } from "../task-folder/task-folders.ts";
import type { StepOrder } from "../launcher/messages.ts";
import { COOKIE_NAME } from "../processes/members.ts";
import { bashCommand, isShellName } from "../output/output-variables.ts";
import type { StepFiles } from "../runtime-folder/task-files.ts";
import { paths } from "../task-folder/paths.ts";

/** The programs that running steps needs, by absolute path: a step's own PATH must not decide about them. */
export type Tools = { readonly bash: string; readonly cat: string; readonly mkfifo: string };

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** @throws Fault naming the program that is missing */
export function findTools(path: string = DEFAULT_PATH): Tools {
  const find = (name: string): string => {
    const found = findProgram(name, path);
    if (found === undefined) throw startError(`this machine has no ${name}, which running steps needs`);
    return found;
  };
  return { bash: find("bash"), cat: find("cat"), mkfifo: find("mkfifo") };
}

/** Finds an executable in the folders of `path` and of DEFAULT_PATH. */
export const findProgram = (name: string, path: string = DEFAULT_PATH): string | undefined =>
  [...path.split(delimiter), ...DEFAULT_PATH.split(delimiter)].map((dir) => join(dir, name)).find(isProgram);

/**
 * Finds ssh in the steps' search path. Each use searches again, so that no restart is needed after its installation.
 */
export const findSsh = (path: string): string | undefined =>
  path
    .split(delimiter)
    .map((folder) => join(folder, "ssh"))
    .find(isProgram);

/** The command for the launcher, and its variables besides the usual ones. */
export type Program = {
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
};

/** Runs the script on this machine. */
export const createScriptProgram = ({ bash }: Tools, files: StepFiles, { outputs, env }: ShellTask): Program => ({
  command: [bash, "-c", bashCommand(files.script, files.outputs, outputs), files.script],
  env,
});

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
 * one: root's own path may name folders closed to steps.
 * Otherwise the delegate's, without the folders that npm adds for its scripts.
 */
export function defaultSearchPath(path: string | undefined, isRoot: boolean): string {
  if (isRoot) return DEFAULT_PATH;
  const folders = (path ?? "").split(delimiter).filter((dir) => dir.startsWith("/") && !dir.includes("/node_modules/"));
  return folders.length === 0 ? DEFAULT_PATH : folders.join(delimiter);
}

/** Why the input of the task cannot be used; undefined if it can. */
export function findUnusableInput(work: ShellTask): string | undefined {
  const made = (work.secrets?.env ?? []).map(({ name }) => ({ name, value: "" }));
  const unusable = [...work.env, ...made].find(({ name, value }) => !isShellName(name) || value.includes("\0"));
  if (unusable) return `The environment variable '${unusable.name}' has a name or a value that a shell cannot hold.`;
  if (work.outputs.length > 256 || work.outputs.some(({ name }) => name.length > 256))
    return "A step can have 256 output variables with names of 256 characters at most.";
  return undefined;
}

export type StepStart = {
  readonly key: string;
  readonly tools: Tools;
  readonly folder: string;
  readonly cookie: string;
  readonly owner: Owner;
  readonly userName: string;
  readonly searchPath: string;
  readonly program: Program;
  /** Bytes of output that are stored. */
  readonly maxStepOutput: number;
  readonly endsUser: boolean;
};

export const createStepOrder = (start: StepStart): StepOrder => ({
  key: start.key,
  folder: start.folder,
  command: start.program.command,
  env: environmentOf(start),
  cwd: paths(start.folder).work,
  ids: start.owner && { uid: start.owner.uid, gid: start.owner.gid },
  maxStepOutput: start.maxStepOutput,
  endsUser: start.endsUser,
});

/** Contains nothing of the delegate's own environment. The cookie comes last, so that no variable replaces it. */
function environmentOf({
  folder,
  cookie,
  userName,
  program,
  searchPath: path,
  tools,
}: StepStart): Record<string, string> {
  const at = paths(folder);
  const base = {
    PATH: path,
    HOME: at.work,
    LANG: "C.UTF-8",
    TMPDIR: at.tmp,
    USER: userName,
    LOGNAME: userName,
    // Otherwise Bash reads the user database at each start.
    SHELL: tools.bash,
  };
  const given = program.env.map(({ name, value }) => [name, value] as const);
  return { ...base, ...Object.fromEntries(given), [COOKIE_NAME]: cookie };
}

/** Adds the variables with the path of the kubeconfig. The step's own variables of these names replace them. */
export function withKubeconfig(work: ShellTask, path: string | undefined): ShellTask {
  if (path === undefined) return work;
  const names = work.kubernetes?.cluster ? ["KUBECONFIG", "PLATFORM_KUBE_CONFIG_PATH"] : ["KUBECONFIG"];
  return { ...work, env: [...names.map((name) => ({ name, value: path })), ...work.env] };
}

/** Linux's limit of one environment variable in bytes, without the closing NUL. */
const MAX_VARIABLE = 128 * 1024 - 1;

/**
 * Adds the variables that hold secrets to the task's environment.
 * @param secretValues value of each secret, or the path of its file
 * @throws when a variable cannot hold its value
 */
export function withSecretVariables(work: ShellTask, secretValues: readonly string[] = []): ShellTask {
  const variables = (work.secrets?.env ?? []).map(({ name, parts }) => {
    const value = parts.map((part) => (typeof part === "string" ? part : (secretValues[part] ?? ""))).join("");
    if (value.includes("\0"))
      throw new Error(`the variable ${name} would hold a NUL character, which no process can be given`);
    if (Buffer.byteLength(`${name}=${value}`) > MAX_VARIABLE)
      throw new Error(`the variable ${name} would have more than ${MAX_VARIABLE} bytes with its name`);
    return { name, value };
  });
  return { ...work, env: [...work.env, ...variables] };
}
