/**
 * Prepares a step on another host when its task starts: known hosts, key and payload as files, and the command line
 * of ssh (ssh.ts).
 */
import { closeSync, constants, fchownSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ShellTarget, ShellTask } from "../../protocol/work/shell.ts";
import type { Owner } from "../task-folder/task-folders.ts";
import type { Program, Tools } from "../tasks/step-command.ts";
import type { StepFiles } from "../runtime-folder/task-files.ts";
import { paths } from "../task-folder/paths.ts";
import { normalizeKey } from "./key.ts";
import type { KnownHosts } from "./known-hosts.ts";
import { maxResultBytes } from "./outputs.ts";
import { remoteCookie, createPayload } from "./script.ts";
import { answerPlace, askpass, askpassEnvironment, KNOWN_HOSTS, sshArguments } from "./ssh.ts";

export type RemoteStep = {
  readonly folder: string;
  readonly files: StepFiles;
  readonly owner: Owner;
  readonly cookie: string;
  readonly work: ShellTask & { readonly target: ShellTarget };
  /** For each secret the path of its file, or its value. */
  readonly secretValues: readonly string[];
  /** Writes a secret file of the step; returns its path. */
  readonly writeSecretFile: (name: string, text: string) => string;
};

type RemoteDeps = {
  /** Path of the program. */
  readonly ssh: string;
  readonly tools: Tools;
  readonly knownHosts: KnownHosts;
};

/**
 * Lays out what ssh needs, and answers what to start. The script with its variables, which are secrets too, lies where
 * secrets lie; known hosts and the program that answers ssh in the step's own folders.
 * @throws Refusal for a key that is none; the system's error
 */
export function prepareRemote(
  { folder, files, owner, cookie, work, secretValues, writeSecretFile }: RemoteStep,
  { ssh, tools, knownHosts }: RemoteDeps,
): Program {
  const at = paths(folder);
  const { target } = work;
  const { text, strict } = knownHosts.copy();
  createFile(join(at.work, KNOWN_HOSTS), text, { mode: 0o600, owner });
  const key = target.auth.kind === "key" ? prepareKeyFile(secretValues, work, target.auth) : undefined;
  const payload = writeSecretFile(
    "payload",
    createPayload({ ...work, workingDirectory: target.workingDirectory, cookie: remoteCookie(cookie) }),
  );
  const answer = answerPlace(target.auth);
  const program = join(at.tmp, "askpass");
  if (answer !== null) createFile(program, askpass(tools.cat), { mode: 0o500, owner });
  return {
    command: [
      tools.bash,
      files.script,
      payload,
      files.outputs,
      String(maxResultBytes(work.outputs)),
      ssh,
      ...sshArguments(target, key, strict),
    ],
    env: answer === null ? [] : askpassEnvironment(program, secretValueAt(secretValues, answer)),
  };
}

function secretValueAt(secretValues: readonly string[], nth: number): string {
  const text = secretValues[nth];
  if (text === undefined) throw new Error("what the step logs in with did not come with its task");
  return text;
}

/** The file of the key, in the form that ssh takes. */
function prepareKeyFile(
  secretValues: readonly string[],
  { secrets }: ShellTask,
  { key, passphrase }: Extract<ShellTarget["auth"], { kind: "key" }>,
): string {
  const file = secretValueAt(secretValues, key);
  normalizeKey(file, secrets?.uses[key]?.label ?? "", passphrase !== null);
  return file;
}

/** Creates a new file; does not follow a link at the path. */
function createFile(path: string, text: string, access: { readonly mode: number; readonly owner: Owner }): void {
  const { mode, owner } = access;
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    if (owner) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}
