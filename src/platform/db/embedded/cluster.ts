import { randomBytes } from "node:crypto";
import { mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DbLog } from "../db.ts";
import { restrictToAccount, type DatabaseFolders } from "./files/folders.ts";
import { spawnOptionsFor, runProgram } from "./process/run-program.ts";
import { diskFullFrom, requireRoom, ROOM_TO_CREATE } from "./files/disk.ts";
import { problem } from "./problems.ts";

/** The role that the server logs in as, and its database of the same name. The role is not a superuser. */
export const ROLE = "railhead";

/**
 * Only this role can log in, and only with its password. The cluster's superuser cannot log in; statements that need
 * it run in PostgreSQL's single-user mode while the database is stopped.
 */
const HBA = `# Written by Railhead.
local all ${ROLE} scram-sha-256
local replication all reject
local all all reject
`;

/** Names of clusters under construction. A complete cluster is renamed; one with such a name was interrupted. */
const UNFINISHED = "data.new-";

/** Major version of the PostgreSQL that created the cluster; undefined without a cluster. */
export async function clusterVersion(cluster: string): Promise<string | undefined> {
  const there = await stat(cluster).then(
    () => true,
    () => false,
  );
  if (!there) return undefined;
  return (
    await readFile(join(cluster, "PG_VERSION"), "utf8").catch(() =>
      Promise.reject(problem("embedded.not_a_database", [cluster])),
    )
  ).trim();
}

/** Creates a cluster with role and database, completely or not at all. Rejects with `embedded.*`. */
export async function createCluster(folders: DatabaseFolders, programs: string, log: DbLog): Promise<void> {
  await requireRoom(folders.root, ROOM_TO_CREATE, "be made");
  await removeUnfinished(folders.root);
  const work = await mkdtemp(join(folders.root, UNFINISHED));
  await restrictToAccount(work, folders.account);
  log.info({ folder: folders.cluster }, "making the database");
  await initialize(folders, programs, work);
  await writeFile(join(work, "pg_hba.conf"), HBA, { mode: 0o600 });
  const password = (await readPassword(folders)) ?? (await writePassword(folders));
  await runSingleUser(folders, { programs, cluster: work }, [
    `create role ${ROLE} login createdb password '${password}'`,
    `create database ${ROLE} owner ${ROLE}`,
  ]);
  await rename(work, folders.cluster);
  await syncFolder(dirname(folders.cluster));
}

/** An initdb whose server was killed may still write for a moment; then a later start removes the rest. */
async function removeUnfinished(root: string): Promise<void> {
  const names = (await readdir(root)).filter((name) => name.startsWith(UNFINISHED));
  await Promise.all(names.map((name) => rm(join(root, name), { recursive: true, force: true }).catch(() => {})));
}

/** Reads the password of the role; sets a new one when its file is lost. Only while the database is stopped. */
export async function ensurePassword(folders: DatabaseFolders, programs: string, log: DbLog): Promise<string> {
  const known = await readPassword(folders);
  if (known !== undefined) return known;
  log.warn({ file: folders.password }, "the database's password file is missing: a new password is set");
  const password = randomPassword();
  await runSingleUser(folders, { programs, cluster: folders.cluster }, [`alter role ${ROLE} password '${password}'`]);
  return writePassword(folders, password);
}

/** The password in the file; undefined without a file. */
export async function readPassword(folders: DatabaseFolders): Promise<string | undefined> {
  const text = await readFile(folders.password, "utf8").catch(() => "");
  return /^[\w-]{20,}$/.test(text) ? text : undefined;
}

async function initialize(folders: DatabaseFolders, programs: string, work: string): Promise<void> {
  const args = ["-D", work, "-U", "postgres", "--auth-local=reject", "--auth-host=reject", "--data-checksums"];
  // The sort order comes from PostgreSQL itself, so that it does not change with the system's libraries.
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const options = spawnOptionsFor(folders.account, folders.run);
  const program = { file: join(programs, "bin", "initdb"), args: [...args, ...locale, "--no-instructions"] };
  const { code, output } = await runProgram(program, options);
  if (code !== 0)
    throw (
      (await diskFullFrom(output, folders.root, "be made")) ?? problem("embedded.initdb_failed", [folders.root, output])
    );
}

/** Runs statements in single-user mode: as the superuser, without a server and other sessions. */
async function runSingleUser(
  folders: DatabaseFolders,
  { programs, cluster }: { readonly programs: string; readonly cluster: string },
  statements: readonly string[],
): Promise<void> {
  // -j: a semicolon and an empty line end a statement. Statements are never logged, because they contain the
  // password.
  const args = [
    "--single",
    "-j",
    "-D",
    cluster,
    "-c",
    "log_min_error_statement=panic",
    "-c",
    "log_checkpoints=off",
    "postgres",
  ];
  const input = statements.map((sql) => `${sql};\n\n`).join("");
  const program = { file: join(programs, "bin", "postgres"), args, input };
  const { code, output } = await runProgram(program, spawnOptionsFor(folders.account, folders.run));
  // The exit code does not report a failed statement.
  if (code === 0 && !/\b(ERROR|FATAL|PANIC): /.test(output)) return;
  throw (
    (await diskFullFrom(output, folders.root, "be made")) ?? problem("embedded.initdb_failed", [folders.root, output])
  );
}

/** Contains only letters, digits, `-` and `_`, so that it never needs quoting. */
function randomPassword(): string {
  return randomBytes(24).toString("base64url");
}

async function writePassword(folders: DatabaseFolders, password = randomPassword()): Promise<string> {
  const unfinished = `${folders.password}.new`;
  await writeFile(unfinished, password, { mode: 0o600, flush: true });
  await rename(unfinished, folders.password);
  await syncFolder(dirname(folders.password));
  return password;
}

/** A rename is durable after its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
