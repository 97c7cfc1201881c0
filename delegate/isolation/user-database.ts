/**
 * Writes the machine's users with those of the steps to files, which are mounted over /etc/passwd and /etc/group for
 * the launcher and its steps alone. Programs such as ssh, psql and Python's `pwd` refuse to work for a user without an
 * entry.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../fault.ts";
import { readRegularFile } from "../regular-file.ts";

/** The users to add to the machine's own, and the place for the files with both. */
export type UserDatabase = {
  /** Folder for the files. */
  readonly folder: string;
  /** The machine's own: passwd, group. */
  readonly sources: readonly [string, string];
  /** Called only when the files have to be written: there are a thousand. */
  readonly users: () => readonly NamedUser[];
  readonly shell: string;
};

/** The group has the same name and number. `home`: a link to the home folder of the current task. */
export type NamedUser = { readonly name: string; readonly id: number; readonly home: string };

export function writeUserDatabase({ folder, sources, users: listUsers, shell }: UserDatabase): {
  readonly passwd: string;
  readonly group: string;
} {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [passwd, group] = sources;
  const users = listUsers();
  return {
    passwd: write(
      join(folder, "passwd"),
      textIn(passwd),
      users.map(({ name, id, home }) => `${name}:x:${id}:${id}:step:${home}:${shell}`),
    ),
    group: write(
      join(folder, "group"),
      textIn(group),
      users.map(({ name, id }) => `${name}:x:${id}:`),
    ),
  };
}

/**
 * Replaces the file by a new one: an earlier launcher may still have the old one mounted. An unchanged file stays:
 * a launcher, which ends the processes of steps, has to start on a full disk, too.
 */
function write(path: string, before: string, lines: readonly string[]): string {
  const temporary = `${path}.new`;
  const own = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  const text = `${own}${lines.join("\n")}\n`;
  if (readRegularFile(path)?.toString("utf8") === text) return path;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o644, flag: "wx" });
  chmodSync(temporary, 0o644);
  renameSync(temporary, path);
  return path;
}

/** A file of the machine, which may be a link. */
function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}
