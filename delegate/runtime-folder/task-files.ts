/** The files of one task in the runtime folder (runtime-folder.ts), by the path of the task's folder. */
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { SecretUses } from "../../protocol/work/secrets.ts";
import { codeOf } from "../fault.ts";
import { MAX_PLAIN } from "../mask/needles.ts";
import { END_NOT_REACHED } from "../output/output-variables.ts";
import { openRegular, readLimitedFile } from "../regular-file.ts";
import type { Owner } from "../task-folder/task-folders.ts";

/** Paths of the step's script and of the file for its output variables. */
export type StepFiles = { readonly script: string; readonly outputs: string };

/** `secretValues`: for each use the value, or the path of the file. `masks`: the values to mask. */
export type StepSecrets = { readonly secretValues: readonly string[]; readonly masks: readonly Buffer[] };

export type TaskScript = { readonly owner: Owner; readonly script: string; readonly hasOutputs: boolean };

export type SecretFile = {
  readonly name: string;
  readonly text: string;
  /** 0o400 by default. */
  readonly mode?: number;
};

/** The secrets that a task uses. */
export type TaskSecrets = {
  readonly uses: SecretUses;
  /** Further values to mask. */
  readonly masks: readonly Buffer[];
};

/** What a task uses, and what was received for each use. */
type ReceivedSecrets = {
  readonly secrets: TaskSecrets;
  readonly valueOf: (nth: number) => Buffer;
  readonly fileOf: (nth: number) => string;
};

/** More than the masks of the largest secrets that a task can have, in base64. */
const MAX_MASKS_FILE = 64 * 1024 * 1024;

export const stepFilesIn = (folder: string): StepFiles => ({
  script: join(folder, "script.sh"),
  outputs: join(folder, "outputs"),
});

export const secretFolderIn = (folder: string): string => join(folder, "files");

/** Makes the folder with the script. @throws the system's error */
export function prepareTaskFolder(folder: string, { owner, script, hasOutputs }: TaskScript): void {
  const files = stepFilesIn(folder);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(files.script, script, { mode: owner ? 0o640 : 0o600, flag: "wx" });
  if (hasOutputs) writeFileSync(files.outputs, END_NOT_REACHED, { mode: 0o600, flag: "wx" });
  if (!owner) return;
  if (hasOutputs) chownSync(files.outputs, owner.uid, owner.gid);
  for (const path of [files.script, folder]) chownSync(path, 0, owner.gid);
  // The step's group may open the folder, to see it in a name space, and read the script.
  chmodSync(folder, 0o750);
}

/** Moves received files to the task, and records the values to mask. @throws the system's error */
export function installSecretFiles(
  folder: string,
  owner: Owner,
  { secrets, valueOf, fileOf }: ReceivedSecrets,
): StepSecrets {
  const files = secretFolderIn(folder);
  mkdirSync(files, { mode: 0o700 });
  const handed = secrets.uses.map(({ as, label }, nth): { text: string; mask: Buffer } => {
    if (as === "value") {
      const value = valueOf(nth);
      return { text: value.toString(), mask: value };
    }
    const file = join(files, secretFileName(label, nth));
    renameSync(fileOf(nth), file);
    chmodSync(file, 0o400);
    if (owner) chownSync(file, owner.uid, owner.gid);
    return { text: file, mask: readBeginning(file) };
  });
  const masks = [...handed.map(({ mask }) => mask), ...secrets.masks];
  const lines = masks.map((mask) => `${mask.toString("base64")}\n`);
  writeFileSync(masksIn(folder), lines.join(""), { mode: 0o600, flag: "wx" });
  if (owner) {
    // The group can list the files; only their owner can read them.
    chownSync(files, 0, owner.gid);
    chmodSync(files, 0o750);
  }
  return { secretValues: handed.map(({ text }) => text), masks };
}

/** Writes another secret file; returns its path. @throws the system's error */
export function writeSecretFile(folder: string, owner: Owner, { name, text, mode = 0o400 }: SecretFile): string {
  const file = join(secretFolderIn(folder), name);
  writeFileSync(file, text, { mode, flag: "wx" });
  if (owner) chownSync(file, owner.uid, owner.gid);
  return file;
}

const masksIn = (folder: string): string => join(folder, "masks");

/**
 * Without name spaces a step can replace the file: it is read as a foreign one. Other content makes the masks unknown.
 */
export function readMasks(folder: string): readonly Buffer[] | undefined {
  const bytes = readLimitedFile(masksIn(folder), MAX_MASKS_FILE);
  if (bytes === undefined || bytes === "tooLarge") return undefined;
  const lines = bytes.toString("latin1").split("\n").slice(0, -1);
  return lines.map((line) => Buffer.from(line, "base64"));
}

/** At once, if the step has added nothing; false if something is left. */
export function removeKnownFiles(folder: string): boolean {
  try {
    for (const name of ["script.sh", "outputs", "masks", "mounts"]) unlinkIfThere(join(folder, name));
    rmdirIfThere(join(folder, "files"));
    rmdirIfThere(folder);
    return true;
  } catch {
    return false;
  }
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

export function rmdirIfThere(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Names the secret for a person who reads the folder. The number distinguishes two secrets of one name. */
const secretFileName = (label: string, nth: number): string =>
  `${nth + 1}-${label.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}`;

function readBeginning(file: string): Buffer {
  const opened = openRegular(file);
  if (!opened) throw new Error(`${file} is no regular file`);
  const { fd, stat } = opened;
  try {
    const bytes = Buffer.alloc(Math.min(stat.size, MAX_PLAIN));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}
