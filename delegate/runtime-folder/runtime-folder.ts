/**
 * Where scripts, output variables and secrets of steps are kept while they run:
 * a folder of this delegate in a file system that lies in memory, so that no
 * disk holds them and a restart of the machine ends them. It outlives the
 * delegate, as its steps do.
 *   incoming/<task>.<epoch>/      files of a task whose `run` has not come yet
 *   <task>.<epoch>/script.sh      the script; `outputs`: its output variables
 *   <task>.<epoch>/masks          what must not leave with the output: for the next delegate, should there be one
 *   <task>.<epoch>/files/         the step's secret files; gone with its processes
 *   homes/<uid>                   link to the home folder of a step, for the user database
 *   fifos-…/                      pipes of a launcher, without a task yet
 *   work-folder                   whose it is (note.ts)
 *   lock                          that of the delegate's identity (claim.ts)
 * Only a step's own group can enter its part, and only its own user can read the files.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { codeOf } from "../fault.ts";
import { keyOf, type Owner } from "../task-folder/task-folders.ts";
import { type IncomingSecrets, createIncomingSecrets, type SecretUses } from "./incoming-secrets.ts";
import { MAX_PLAIN } from "../mask/needles.ts";
import { LOCK_FILE } from "../work-folder/lock.ts";
import { NOTE } from "./note.ts";
import { END_NOT_REACHED } from "../output/output-variables.ts";
import type { Lease } from "../output/shipper.ts";

/** The step's own files beside its folders. */
export type StepFiles = { readonly script: string; readonly outputs: string };

/** What a step gets for each of its uses, as text, and all that has to be masked. */
export type StepSecrets = { readonly secretTexts: readonly string[]; readonly masks: readonly Buffer[] };

export type RuntimeFolder = Pick<
  IncomingSecrets,
  "receive" | "findMissing" | "receiveError" | "discard" | "discardAll"
> & {
  readonly path: string;
  /** The task's folder. */
  readonly pathOfTask: (lease: Lease) => string;
  /** Of a task's folder; `outputs` is there if the step hands anything over. */
  readonly filesOf: (lease: Lease) => StepFiles;
  /** Makes the task's folder with its script. @throws the system's error */
  readonly prepare: (lease: Lease, owner: Owner, script: string, hasOutputs: boolean) => void;
  /** Where the user database says that the home folder of the user is. */
  readonly homeOf: (uid: number) => string;
  /** Lets it lead to the folder of the task that the user has now. @throws the system's error */
  readonly linkHome: (uid: number, folder: string) => void;
  readonly unlinkHome: (uid: number) => void;
  /** @throws the system's error */
  readonly installSecrets: (lease: Lease, uses: SecretUses, owner: Owner) => StepSecrets;
  /** A further file of a task that was handed its own, as secret as those. @throws the system's error */
  readonly writeSecretFile: (lease: Lease, owner: Owner, name: string, text: string) => string;
  /** Undefined when they are not known any more. */
  readonly masksOf: (lease: Lease) => readonly Buffer[] | undefined;
  readonly removeSecretFiles: (lease: Lease) => void;
  readonly remove: (lease: Lease) => void;
  /** Removes what belongs to none of these tasks, and what an earlier delegate had not begun. */
  readonly removeOtherTasks: (held: readonly Lease[]) => void;
  /** Removes what no task needs. */
  readonly close: () => void;
};

/** @param path of the folder, which is there */
export function openRuntimeFolder(path: string): RuntimeFolder {
  const incoming = createIncomingSecrets(join(path, "incoming"));
  const taskPath = (lease: Lease): string => join(path, keyOf(lease));
  const homeOf = (uid: number): string => join(path, HOMES, String(uid));
  const filesOf = (lease: Lease): StepFiles => ({
    script: join(taskPath(lease), "script.sh"),
    outputs: join(taskPath(lease), "outputs"),
  });
  return {
    ...incoming,
    path,
    pathOfTask: taskPath,
    filesOf,
    homeOf,
    linkHome: (uid, folder) => {
      mkdirSync(join(path, HOMES), { recursive: true, mode: 0o711 });
      rmSync(homeOf(uid), { force: true });
      symlinkSync(folder, homeOf(uid));
    },
    unlinkHome: (uid) => rmSync(homeOf(uid), { force: true }),
    prepare: (lease, owner, script, hasOutputs) => {
      const files = filesOf(lease);
      mkdirSync(taskPath(lease), { mode: 0o700 });
      writeFileSync(files.script, script, { mode: owner ? 0o640 : 0o600, flag: "wx" });
      if (hasOutputs) writeFileSync(files.outputs, END_NOT_REACHED, { mode: 0o600, flag: "wx" });
      if (!owner) return;
      if (hasOutputs) chownSync(files.outputs, owner.uid, owner.gid);
      for (const path of [files.script, taskPath(lease)]) chownSync(path, 0, owner.gid);
      // The step's group may open the folder, to see it in a name space, and read the script.
      chmodSync(taskPath(lease), 0o750);
    },
    installSecrets: (lease, uses, owner) => {
      const files = join(taskPath(lease), "files");
      mkdirSync(files, { mode: 0o700 });
      const handed = uses.map(({ as, label }, nth): { text: string; mask: Buffer } => {
        if (as === "value") {
          const value = incoming.valueOf(lease, nth);
          return { text: value.toString(), mask: value };
        }
        const file = join(files, secretFileName(label, nth));
        renameSync(incoming.fileOf(lease, nth), file);
        chmodSync(file, 0o400);
        if (owner) chownSync(file, owner.uid, owner.gid);
        return { text: file, mask: readBeginning(file) };
      });
      const masks = handed.map(({ mask }) => mask);
      const lines = masks.map((mask) => `${mask.toString("base64")}\n`);
      writeFileSync(join(taskPath(lease), "masks"), lines.join(""), { mode: 0o600 });
      if (owner) {
        // The group may see the files; only their owner can read them.
        chownSync(files, 0, owner.gid);
        chmodSync(files, 0o750);
      }
      return { secretTexts: handed.map(({ text }) => text), masks };
    },
    writeSecretFile: (lease, owner, name, text) => {
      const file = join(taskPath(lease), "files", name);
      writeFileSync(file, text, { mode: 0o400, flag: "wx" });
      if (owner) chownSync(file, owner.uid, owner.gid);
      return file;
    },
    masksOf: (lease) => readMasks(join(taskPath(lease), "masks")),
    removeSecretFiles: (lease) => rmSync(join(taskPath(lease), "files"), { recursive: true, force: true }),
    remove: (lease) => rmSync(taskPath(lease), { recursive: true, force: true }),
    removeOtherTasks: (held) => {
      const kept = new Set([...held.map(keyOf), HOMES, NOTE, LOCK_FILE]);
      for (const name of readdirSync(path))
        if (!kept.has(name)) rmSync(join(path, name), { recursive: true, force: true });
    },
    close: () => {
      incoming.discardAll();
      try {
        rmSync(join(path, "incoming"), { recursive: true, force: true });
        rmdirIfEmpty(join(path, HOMES));
      } catch {
        // Steps go on, and need theirs.
      }
    },
  };
}

function rmdirIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function readMasks(file: string): readonly Buffer[] | undefined {
  try {
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => Buffer.from(line, "base64"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Which secret it is, for whoever looks; the number keeps two of one name apart. */
const secretFileName = (label: string, nth: number): string =>
  `${nth + 1}-${label.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}`;

function readBeginning(file: string): Buffer {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, MAX_PLAIN));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

const HOMES = "homes";
