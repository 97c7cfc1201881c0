import { createHash } from "node:crypto";
import { chmod, chown, mkdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DbLog } from "../../db.ts";
import { databaseAccount, type Account } from "../account.ts";
import { asAccount, runProgram } from "../process/command.ts";
import { problem } from "../problems.ts";

/** Location and user of the database. All paths are absolute. */
export type Place = {
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
const ELSEWHERE = "/var/lib/railhead";

/**
 * Chooses the location of the database of a data directory and creates the folders. An existing database stays where
 * it is, even if the other location has become possible.
 */
export async function choosePlace(dataDir: string, log: DbLog, elsewhere = ELSEWHERE): Promise<Place> {
  const near = join(dataDir, "postgres");
  const far = farFrom(dataDir, elsewhere);
  const atNear = layout(near, await databaseAccount(join(near, "data")));
  if (!atNear.account.dropped) return open(atNear, dataDir);
  const nearExists = await exists(atNear.cluster);
  if (!nearExists && (await exists(join(far, "data")))) return openFar(far, elsewhere);
  await open(atNear, dataDir);
  if (await isReachable(atNear)) return atNear;
  if (nearExists) throw problem("embedded.unreachable", [near, atNear.account.name]);
  log.info(
    { folder: far, user: atNear.account.name },
    `the database's user cannot reach ${dataDir}: the database lies in ${far}`,
  );
  for (const empty of [atNear.run, atNear.bin, atNear.root]) await rmdir(empty).catch(() => {}); // it is only untidy
  return openFar(far, elsewhere);
}

/** The existing location of a data directory's database; undefined without one. Creates nothing. */
export async function findPlace(dataDir: string, elsewhere = ELSEWHERE): Promise<Place | undefined> {
  for (const root of [join(dataDir, "postgres"), farFrom(dataDir, elsewhere)]) {
    if (await exists(join(root, "data"))) return layout(root, await databaseAccount(join(root, "data")));
  }
  return undefined;
}

function farFrom(dataDir: string, elsewhere: string): string {
  return join(elsewhere, createHash("sha256").update(dataDir).digest("hex").slice(0, 12));
}

function layout(root: string, account: Account): Place {
  const at = (name: string): string => join(root, name);
  return { account, root, cluster: at("data"), bin: at("bin"), run: at("run"), password: at("password") };
}

async function openFar(root: string, elsewhere: string): Promise<Place> {
  await mkdir(elsewhere, { recursive: true, mode: 0o755 });
  return open(layout(root, await databaseAccount(join(root, "data"))), undefined);
}

/** Creates the folders of a place, or corrects their owners and modes. */
async function open(place: Place, dataDir: string | undefined): Promise<Place> {
  if (dataDir !== undefined) await letPass(dataDir, place.account);
  await mkdir(place.root, { recursive: true, mode: 0o700 });
  await letPass(place.root, place.account);
  await mkdir(place.bin, { recursive: true, mode: 0o755 });
  await chmod(place.bin, 0o755);
  await mkdir(place.run, { recursive: true, mode: 0o700 });
  await changeOwner(place.run, place.account);
  return place;
}

/** Makes a directory private to the database's user. */
export async function changeOwner(path: string, { dropped, uid, gid }: Account): Promise<void> {
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
async function isReachable(place: Place): Promise<boolean> {
  const script = 'cd "$1" && test -x . && test -x "$2"';
  const program = { file: "/bin/sh", args: ["-c", script, "sh", place.run, place.bin] };
  const { code } = await runProgram(program, asAccount(place.account, "/"));
  return code === 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
