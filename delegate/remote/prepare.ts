import { closeSync, constants, fchownSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ShellTarget, ShellTask } from "../../protocol/messages.ts";
import type { Owner } from "../task-folder/task-folders.ts";
import type { Program, Tools } from "../tasks/step-command.ts";
import type { StepFiles } from "../runtime-folder/runtime-folder.ts";
import { paths } from "../task-folder/paths.ts";
import { settleKey } from "./key.ts";
import type { KnownHosts } from "./known-hosts.ts";
import { mostReturned } from "./outputs.ts";
import { cookieThere, payloadOf } from "./script.ts";
import { answerOf, askpass, askpassEnvironment, KNOWN_HOSTS, sshArguments } from "./ssh.ts";

export type Preparing = {
  readonly folder: string;
  readonly files: StepFiles;
  readonly owner: Owner;
  readonly cookie: string;
  readonly work: ShellTask & { readonly target: ShellTarget };
  /** Where the step's secret files are; of texts, the texts. */
  readonly texts: readonly string[];
  /** Puts a file among the step's secret ones and answers its path. */
  readonly keep: (name: string, text: string) => string;
};

/**
 * Lays out what ssh needs, and answers what to start. The script with its variables, which are secrets too, lies where
 * secrets lie; known hosts and the program that answers ssh in the step's own folders.
 * @throws Refusal for a key that is none; the system's error
 */
export function prepareRemote(
  { folder, files, owner, cookie, work, texts, keep }: Preparing,
  ssh: string,
  tools: Tools,
  knownHosts: KnownHosts,
): Program {
  const at = paths(folder);
  const { target } = work;
  const { text, strict } = knownHosts.copy();
  put(join(at.work, KNOWN_HOSTS), text, 0o600, owner);
  const key = target.auth.kind === "key" ? keyAt(texts, work, target.auth) : undefined;
  const payload = keep(
    "payload",
    payloadOf({ ...work, workingDirectory: target.workingDirectory, cookie: cookieThere(cookie) }),
  );
  const answer = answerOf(target.auth);
  const program = join(at.tmp, "askpass");
  if (answer !== null) put(program, askpass(tools.cat), 0o500, owner);
  return {
    command: [
      tools.bash,
      files.script,
      payload,
      files.outputs,
      String(mostReturned(work.outputs)),
      ssh,
      ...sshArguments(target, key, strict),
    ],
    env: answer === null ? [] : askpassEnvironment(program, textAt(texts, answer)),
  };
}

function textAt(texts: readonly string[], nth: number): string {
  const text = texts[nth];
  if (text === undefined) throw new Error("what the step logs in with did not come with its task");
  return text;
}

/** The file of the key, in the form that ssh takes. */
function keyAt(
  texts: readonly string[],
  { secrets }: ShellTask,
  { key, passphrase }: Extract<ShellTarget["auth"], { kind: "key" }>,
): string {
  const file = textAt(texts, key);
  settleKey(file, secrets?.uses[key]?.label ?? "", passphrase !== null);
  return file;
}

/** New, and through no link that somebody has put there. */
function put(path: string, text: string, mode: number, owner: Owner): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    if (owner) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}
