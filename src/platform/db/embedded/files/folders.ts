import { createHash } from "node:crypto";
import { chmod, chown, mkdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DbLog } from "../../db.ts";
import { databaseAccount, type Account } from "../account.ts";
import { spawnOptionsFor, runProgram } from "../process/run-program.ts";
import { problem } from "../problems.ts";

/** Location and user of the database. All paths are absolute. */
export type DatabaseFolders = {
  readonly account: Account;
  /** Owned by the server; only the database's user may pass through. Contains all of the following. */
  readonly root: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  /** The staged programs, one folder for each version. */
  readonly bin: string;
  /** The folder of the socket; only the database's user can enter. */
  readonly run: string;
  /** The file with the password, readable only for the server. */
  readonly password: string;
};

/** Location of databases whose user cannot reach the data directory. */
const FALLBACK_ROOT = "/var/lib/railhead";

/**
 * Chooses the location of the database of a data directory and creates the folders. An existing database stays where
 * it is, even if the other location has become possible.
 */
export async function chooseDatabaseFolders(
  dataDir: string,
  log: DbLog,
  fallbackRoot = FALLBACK_ROOT,
): Promise<DatabaseFolders> {
  const near = join(dataDir, "postgres");
  const far = fallbackFolder(dataDir, fallbackRoot);
  const atNear = layout(near, await databaseAccount(join(near, "data")));
  if (!atNear.account.dropped) return prepareFolders(atNear, dataDir);
  const nearExists = await exists(atNear.cluster);
  if (!nearExists && (await exists(join(far, "data")))) return prepareFallback(far, fallbackRoot);
  await prepareFolders(atNear, dataDir);
  if (await isReachable(atNear)) return atNear;
  if (nearExists) throw problem("embedded.unreachable", [near, atNear.account.name]);
  log.info(
    { folder: far, user: atNear.account.name },
    `the database's user cannot reach ${dataDir}: the database lies in ${far}`,
  );
  for (const empty of [atNear.run, atNear.bin, atNear.root]) await rmdir(empty).catch(() => {}); // it is only untidy
  return prepareFallback(far, fallbackRoot);
}

/** The existing location of a data directory's database; undefined without one. Creates nothing. */
export async function findDatabaseFolders(
  dataDir: string,
  fallbackRoot = FALLBACK_ROOT,
): Promise<DatabaseFolders | undefined> {
  for (const root of [join(dataDir, "postgres"), fallbackFolder(dataDir, fallbackRoot)]) {
    if (await exists(join(root, "data"))) return layout(root, await databaseAccount(join(root, "data")));
  }
  return undefined;
}

function fallbackFolder(dataDir: string, fallbackRoot: string): string {
  return join(fallbackRoot, createHash("sha256").update(dataDir).digest("hex").slice(0, 12));
}

function layout(root: string, account: Account): DatabaseFolders {
  const at = (name: string): string => join(root, name);
  return { account, root, cluster: at("data"), bin: at("bin"), run: at("run"), password: at("password") };
}

async function prepareFallback(root: string, fallbackRoot: string): Promise<DatabaseFolders> {
  await mkdir(fallbackRoot, { recursive: true, mode: 0o755 });
  return prepareFolders(layout(root, await databaseAccount(join(root, "data"))), undefined);
}

/** Creates the folders, or corrects their owners and modes. */
async function prepareFolders(folders: DatabaseFolders, dataDir: string | undefined): Promise<DatabaseFolders> {
  if (dataDir !== undefined) await letPass(dataDir, folders.account);
  await mkdir(folders.root, { recursive: true, mode: 0o700 });
  await letPass(folders.root, folders.account);
  await mkdir(folders.bin, { recursive: true, mode: 0o755 });
  await chmod(folders.bin, 0o755);
  await mkdir(folders.run, { recursive: true, mode: 0o700 });
  await restrictToAccount(folders.run, folders.account);
  return folders;
}

/** Makes a directory private to the database's user. */
export async function restrictToAccount(path: string, { dropped, uid, gid }: Account): Promise<void> {
  if (dropped) await chown(path, uid, gid);
  await chmod(path, 0o700);
}

/**
 * Lets the database's group pass through a private directory of the server. A directory that other users can enter
 * keeps the mode that its owner chose.
 */
async function letPass(path: string, { dropped, uid, gid }: Account): Promise<void> {
  const now = await stat(path);
  const isOurs = now.uid === process.geteuid?.();
  if (!dropped || !isOurs || now.uid === uid || (now.mode & 0o007) !== 0) return;
  if (now.gid !== gid) await chown(path, now.uid, gid);
  await chmod(path, 0o710);
}

/** Asks the kernel as that user instead of reading modes: access lists and mounts count as well. */
async function isReachable(folders: DatabaseFolders): Promise<boolean> {
  const script = 'cd "$1" && test -x . && test -x "$2"';
  const program = { file: "/bin/sh", args: ["-c", script, "sh", folders.run, folders.bin] };
  const { code } = await runProgram(program, spawnOptionsFor(folders.account, "/"));
  return code === 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
