import { createHash } from "node:crypto";
import { chmod, chown, mkdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DbLog } from "../../db.ts";
import { databaseAccount, type Account } from "../account.ts";
import { asAccount, run } from "../process/command.ts";
import { problem } from "../problems.ts";

/** Where the database lies, and who runs it. All paths are absolute. */
export type Place = {
  readonly account: Account;
  /** Ours; the database's user may pass through, nobody else. Holds all that follows. */
  readonly root: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  /** The staged programs, one folder for each version. */
  readonly bin: string;
  /** The folder of the socket; only the database's user may enter. */
  readonly run: string;
  /** The password, readable for us alone. */
  readonly password: string;
};

/** Where a database lies that its user could not reach inside the data directory. */
const ELSEWHERE = "/var/lib/railhead";

/**
 * Decides where the database of a data directory lies and makes the folders. A database that exists
 * stays where it is, even when the other place has become possible: nobody wants to find an empty one.
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

/** Where the database of a data directory already lies; undefined when there is none. Makes nothing. */
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

/** Makes the folders of a place, or gives them the owners and modes they must have. */
async function open(place: Place, dataDir: string | undefined): Promise<Place> {
  if (dataDir !== undefined) await letPass(dataDir, place.account);
  await mkdir(place.root, { recursive: true, mode: 0o700 });
  await letPass(place.root, place.account);
  await mkdir(place.bin, { recursive: true, mode: 0o755 });
  await chmod(place.bin, 0o755);
  await mkdir(place.run, { recursive: true, mode: 0o700 });
  await own(place.run, place.account);
  return place;
}

/** Makes a directory the database user's own and private. */
export async function own(path: string, { dropped, uid, gid }: Account): Promise<void> {
  if (dropped) await chown(path, uid, gid);
  await chmod(path, 0o700);
}

/**
 * A private directory of ours (nobody else may enter) lets the database's group pass, and only pass.
 * One that others may enter already needs nothing, and its mode is its owner's affair.
 */
async function letPass(path: string, { dropped, uid, gid }: Account): Promise<void> {
  const now = await stat(path);
  const isOurs = now.uid === process.geteuid?.();
  if (!dropped || !isOurs || now.uid === uid || (now.mode & 0o007) !== 0) return;
  if (now.gid !== gid) await chown(path, now.uid, gid);
  await chmod(path, 0o710);
}

/** Asks the kernel as that user, rather than reading modes: access lists and mounts have a say too. */
async function isReachable(place: Place): Promise<boolean> {
  const script = 'cd "$1" && test -x . && test -x "$2"';
  const { code } = await run("/bin/sh", ["-c", script, "sh", place.run, place.bin], asAccount(place.account, "/"));
  return code === 0;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
