/**
 * `npm test`, `npm test -- src/secrets/create.test.ts -t "unique"`.
 *
 * Starts one database server in a temporary directory for all test files, migrates a template that each file clones
 * (test/support/database.ts), runs Node's test runner, and removes everything, also after Ctrl-C. Files that load the
 * platform share processes (lib/test-groups.ts).
 * RAILHEAD_KEEP_DATABASES=1 keeps the databases of failed files and their server until Ctrl-C and prints their URLs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, statSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, escapeIdentifier } from "pg";
import { startEmbedded, type Embedded } from "../src/platform/db/embedded/embedded.ts";
import { lockDataDir, type DataDirLock } from "../src/platform/db/embedded/files/lock.ts";
import { findDatabaseFolders } from "../src/platform/db/embedded/files/folders.ts";
import { terminateOrphans } from "../src/platform/db/embedded/process/orphans.ts";
import { migrate } from "../src/platform/db/migrations/migrate.ts";
import { MIGRATIONS } from "../src/platform/db/migrations/migration-files.ts";
import { connectionUrl } from "../src/platform/db/connection.ts";
import { silentLog, TEST_SERVER, type TestServer } from "../test/support/database.ts";
import { groupTests } from "./lib/test-groups.ts";

const FOLDERS = ["src", "protocol", "delegate", "cli", "web", "scripts", "bench", "test"];
const TEMPLATE = "railhead_template";
const PREFIX = "railhead-test-run-";
/** Test data does not outlive the run, so it does not have to reach the disk. */
const FAST_SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort(name));
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { files, flags } = readArguments(args);
  if (files.length === 0) return fail("These names match no test file. Give a file, a folder or a pattern.");
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  const lock = await lockDataDir(folder);
  let embedded: Embedded | undefined;
  try {
    embedded = await startEmbedded({ lock, log: silentLog, settings: FAST_SETTINGS });
    const server = {
      connection: embedded.connection,
      template: TEMPLATE,
      keep: process.env["RAILHEAD_KEEP_DATABASES"] === "1",
    };
    await createTemplate(server);
    const failedFiles = join(folder, "failed");
    // A name would match the suite of the file, too. Databases are kept by the file of a process.
    const programs = flags.length === 0 && !server.keep ? groupTests(files, folder) : files;
    const code = await runTests(programs, flags, server, failedFiles);
    if (server.keep) await showKeptDatabases(server, failedFiles);
    return code;
  } finally {
    await embedded?.stop();
    lock.release();
    if (embedded) await rm(embedded.location, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

function fail(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}

/** `-t name` is short for --test-name-pattern; other options go to Node; the rest are files, folders and patterns. */
function readArguments(args: readonly string[]): {
  readonly files: readonly string[];
  readonly flags: readonly string[];
} {
  const flags: string[] = [];
  const names: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "-t") flags.push(`--test-name-pattern=${args[(at += 1)] ?? ""}`);
    else if (arg.startsWith("-")) flags.push(arg);
    else names.push(arg);
  }
  const patterns = names.length > 0 ? names : FOLDERS;
  return { files: [...new Set(patterns.flatMap(expand))].toSorted(), flags };
}

function expand(name: string): readonly string[] {
  if (!existsSync(name)) return globSync(name);
  return statSync(name).isDirectory() ? globSync(`${name}/**/*.test.ts`) : [name];
}

async function createTemplate({ connection, template }: TestServer): Promise<void> {
  const admin = new Client(connection);
  await admin.connect();
  await admin.query(`create database ${template}`);
  await migrate({ ...connection, database: template }, MIGRATIONS);
  // A template with a connection, even of autovacuum, cannot be cloned.
  await admin.query(`alter database ${template} with is_template true allow_connections false`);
  await admin.end();
}

/** Runs each file in its own process; returns the exit code. */
async function runTests(
  files: readonly string[],
  flags: readonly string[],
  server: TestServer,
  failed: string,
): Promise<number> {
  const concurrency = `--test-concurrency=${Math.max(2, availableParallelism())}`;
  // With a timeout, a test that hangs fails under its name and does not block the run.
  const options = ["--test", "--test-isolation=process", concurrency, "--test-timeout=180000"];
  const reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  const record = [`--test-reporter=${import.meta.dirname}/test-reporter.ts`, `--test-reporter-destination=${failed}`];
  const cache = process.env["NODE_COMPILE_CACHE"] ?? (await compileCache());
  const child = spawn(
    process.execPath,
    [...options, ...reporters, ...(server.keep ? record : []), ...flags, ...files],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: {
        ...process.env,
        [TEST_SERVER]: JSON.stringify(server),
        ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }),
      },
    },
  );
  stop.signal.addEventListener("abort", () => child.kill("SIGTERM"));
  if (stop.signal.aborted) child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number | null];
  return stop.signal.aborted ? 130 : (code ?? 1);
}

/** A folder for compiled sources, or undefined. Only this user may write to it, because V8 trusts its content. */
async function compileCache(): Promise<string | undefined> {
  const folder = join(tmpdir(), `railhead-compile-${process.geteuid?.() ?? 0}`);
  await mkdir(folder, { mode: 0o700 }).catch(() => {});
  const { uid, mode } = await lstat(folder);
  return uid === process.geteuid?.() && (mode & 0o170_077) === 0o040_000 ? folder : undefined;
}

async function showKeptDatabases(server: TestServer, failedFiles: string): Promise<void> {
  const failed = new Set((await readFile(failedFiles, "utf8").catch(() => "")).split("\n"));
  const isFailed = (file: string): boolean => failed.has(resolve(file));
  const admin = new Client(server.connection);
  await admin.connect();
  const { rows } = await admin.query<{ name: string; file: string }>(
    "select datname as name, shobj_description(oid, 'pg_database') as file from pg_database where datname ~ '_[0-9]+_[0-9]+$' order by 1",
  );
  for (const { name, file } of rows) {
    if (isFailed(file))
      process.stdout.write(`kept ${file}:\n  psql "${connectionUrl({ ...server.connection, database: name })}"\n`);
    else await admin.query(`drop database ${escapeIdentifier(name)} with (force)`);
  }
  await admin.end();
  if (!rows.some(({ file }) => isFailed(file))) return;
  process.stdout.write("The database server stays until Ctrl-C.\n");
  const alive = setInterval(() => {}, 60_000);
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  clearInterval(alive);
}

/** Removes servers and folders of killed runs. Their lock is free. */
async function removeLeftovers(): Promise<void> {
  for (const name of (await readdir(tmpdir())).filter((it) => it.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    if ((await lstat(folder)).uid !== process.geteuid?.()) continue;
    const lock = await lockDataDir(folder).catch((): DataDirLock | undefined => undefined);
    if (!lock) continue; // a run that is still active
    const folders = await findDatabaseFolders(lock.dataDir);
    if (folders) {
      await terminateOrphans(folders, silentLog);
      await rm(folders.root, { recursive: true, force: true });
    }
    lock.release();
    await rm(folder, { recursive: true, force: true });
  }
}
