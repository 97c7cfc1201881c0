/**
 * `railhead server`: read the configuration, open the database, build, listen, and drain on SIGTERM, SIGINT and SIGHUP.
 */
import { randomUUIDv7 } from "node:crypto";
import { unlinkSync } from "node:fs";
import { buildPlatform, DEFAULT_ORGANIZATION, type FirstStart, type Platform } from "./app.ts";
import { toWire, type Uuid } from "./core/ids.ts";
import { Problem } from "./core/problem.ts";
import { factsFile, firstStartText, readFacts, writeFacts, type BootstrapFacts } from "./platform/config/bootstrap.ts";
import { ConfigError, loadRootKeys, readConfig, type Config } from "./platform/config/config.ts";
import type { KeyRing } from "./platform/crypto/key-ring.ts";
import { findMissingRootKeys } from "./platform/crypto/sealed-store.ts";
import { createFolder } from "./platform/folder.ts";
import type { Db } from "./platform/db/db.ts";
import { startDatabaseClock } from "./platform/db/clock.ts";
import { lockDataDir } from "./platform/db/embedded/files/lock.ts";
import { openDatabase } from "./platform/db/open.ts";
import { retryUntilReachable } from "./platform/db/reachable.ts";
import { serverName } from "./platform/db/servers.ts";
import { createWaitingServer } from "./platform/http/waiting-server.ts";
import { createLog, type Log } from "./platform/log/log.ts";
import { prepareWeb } from "../web/build/prepare.ts";
import { unknownVariables } from "./platform/variables/variables.ts";

/** Below the ten seconds after which service managers usually send SIGKILL. */
const DRAIN_MS = 9_000;

type Undo = () => Promise<void> | void;

/**
 * Starts everything and returns a function that stops it in the opposite order. When a part fails to start, the others
 * are stopped again.
 */
async function serve(config: Config, log: Log, leaving: AbortSignal): Promise<() => Promise<void>> {
  const started: Undo[] = [];
  const stop = async (): Promise<void> => {
    for (let undo = started.pop(); undo; undo = started.pop()) await undo();
  };
  try {
    await startAll(config, log, leaving, (undo) => started.push(undo));
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(config: Config, log: Log, leaving: AbortSignal, onStop: (undo: Undo) => void): Promise<void> {
  const lock = await lockDataDir(config.dataDir);
  onStop(() => lock.release());
  let generatedKey: string | undefined;
  const keys = await loadRootKeys(config, (path) => void (generatedKey = path));
  if (config.localDelegate && config.delegateDir !== undefined) await checkDelegateDir(config.delegateDir);
  const waitingServer = createWaitingServer(config);
  onStop(() => waitingServer.close().then(() => {}));
  const database = await openDatabase({
    url: config.databaseUrl,
    lock,
    log,
    name: serverName(keys),
    connections: config.databaseConnections,
    waiting: { signal: leaving, onWaiting: () => waitingServer.open().catch(cannotListen(config)) },
  });
  onStop(() => database.close());
  // The database may become unreachable at any moment of the start.
  const whenReachable = <T>(onWaiting: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
    const url = config.databaseUrl;
    return url === undefined
      ? work()
      : retryUntilReachable(url, { log, waiting: { signal: leaving, onWaiting } }, work);
  };
  const { clock, stop: stopClock } = await whenReachable(
    () => waitingServer.open().catch(cannotListen(config)),
    () => startDatabaseClock(database.db, log),
  );
  onStop(stopClock);
  let baseUrl = config.publicUrl ?? "";
  const platform = await buildPlatform({
    db: database.db,
    pendingMigrations: database.pendingMigrations,
    keys,
    clock,
    newId: () => randomUUIDv7() as Uuid,
    log,
    publicUrl: () => baseUrl,
    maxSecretFile: config.maxSecretFile,
    sessions: config.sessions,
    secretCommands: config.secretCommands,
    oidc: config.oidc,
    leaving,
    allowPrivateAddresses: config.allowPrivateAddresses,
    trustedProxies: config.trustedProxies,
    webFolder: config.webUi ? buildWeb(log) : undefined,
  });
  onStop(() => platform.stop());
  const address = await listen(platform, { ...config, port: await waitingServer.close() });
  baseUrl ||= address;
  // The platform listens by now and reports that it is not ready.
  const alreadyListening = async (): Promise<void> => {};
  const { accountId, rootKeyId } = await whenReachable(alreadyListening, () =>
    ensureAccount(platform, config.dataDir, baseUrl),
  ).catch((error: unknown) => {
    if (generatedKey !== undefined && error instanceof Problem && error.code === "identity.wrong_root_key")
      removeKey(generatedKey);
    throw error;
  });
  await whenReachable(alreadyListening, () =>
    logKeyProblems({ accountId, rootKeyId, keys, db: database.db, sealed: platform.sealed, log }),
  );
  const jobs = platform.startJobs();
  onStop(() => jobs.stop());
  if (config.localDelegate) {
    const local = platform.startLocalDelegate({ ...config, accountId, url: address });
    onStop(() => local.stop());
  }
  platform.ready();
  // Only the first start prints the whole address; bootstrap.json always contains it.
  const { hostname, port } = new URL(address);
  log.info({ host: hostname, port: Number(port), database: database.describe }, "listening");
  process.stdout.write("Railhead is ready.\n");
}

/** The server does not wait for it: only the pages do. */
function buildWeb(log: Log): Promise<string> {
  const folder = prepareWeb(log);
  folder.catch((error: unknown) => log.error({ err: error }, "the web interface could not be built"));
  return folder;
}

type KeyFacts = Pick<FirstStart, "accountId" | "rootKeyId"> &
  Pick<Platform, "sealed"> & { readonly keys: KeyRing; readonly db: Db; readonly log: Log };

/** Logs that a new root key is not in use yet, or that a former one is needed and was not given. */
async function logKeyProblems({ accountId, rootKeyId, keys, db, sealed, log }: KeyFacts): Promise<void> {
  if (rootKeyId !== keys.preferred.id)
    log.warn(
      { used: rootKeyId, given: keys.preferred.id },
      "another root key is in use than RAILHEAD_ROOT_KEY gives; change it with: railhead secrets rotate root-key",
    );
  // The server starts nevertheless: an operator who has lost a key needs it to give these secrets new values.
  for (const { keyId, what } of await findMissingRootKeys(db, accountId, { keys, stores: sealed }))
    log.error(
      { needed: keyId, what },
      "a root key was not given: what is sealed under it cannot be used until the interrupted rotation has ended",
    );
}

/**
 * Removes a key that was generated for a database with another root key. The next start would use it as the current
 * key.
 */
function removeKey(path: string): void {
  unlinkSync(path);
  process.stderr.write(`The root key that was generated in ${path} was removed: nothing is sealed under it.\n`);
}

/** Checked here, because the delegate would only exit again and again. */
async function checkDelegateDir(path: string): Promise<void> {
  try {
    // The delegate uses the same mode: as root, other users have to reach the folders of their steps.
    await createFolder(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`RAILHEAD_DELEGATE_DIR names ${path}, which is no folder and cannot be made one: ${why}.`]);
  }
}

type Address = Pick<Config, "host" | "port">;

const listen = ({ http }: Platform, { host, port }: Address): Promise<string> =>
  http.app.listen({ host, port }).catch(cannotListen({ host, port }));

/** Temporary (`mayPass`): the previous server may still be stopping. */
const cannotListen =
  ({ host, port }: Address) =>
  (error: unknown): never => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`The server cannot listen on HOST ${host} and PORT ${port}: ${why}.`], { mayPass: true });
  };

/**
 * Creates the account at the first start and prints its facts; later starts only update the address in bootstrap.json.
 */
async function ensureAccount(platform: Platform, dataDir: string, baseUrl: string): Promise<FirstStart> {
  let created: BootstrapFacts | undefined;
  const start = await platform.firstStart((first) => {
    created = {
      baseUrl,
      accountId: toWire(first.accountId),
      orgIdentifier: DEFAULT_ORGANIZATION,
      adminUserId: toWire(first.adminUserId),
      adminEmail: first.adminEmail,
      adminPassword: first.adminPassword,
      apiKey: first.apiKey,
    };
    writeFacts(dataDir, created);
  });
  if (created) {
    process.stdout.write(firstStartText(created, factsFile(dataDir)));
    return start;
  }
  const facts = readFacts(dataDir);
  if (facts) writeFacts(dataDir, { ...facts, baseUrl });
  return start;
}

/** Prints the message of a problem that the operator can solve, and the stack of any other error. */
function printError(error: unknown): void {
  const known = error instanceof ConfigError || error instanceof Problem;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${known ? message : (stack ?? message)}\n`);
}

/**
 * A closed terminal sends SIGHUP. An existing listener means that the process was started to ignore it
 * (scripts/guard.js).
 */
const stopSignals = (): readonly ("SIGTERM" | "SIGINT" | "SIGHUP")[] =>
  process.listenerCount("SIGHUP") > 0 ? ["SIGTERM", "SIGINT"] : ["SIGTERM", "SIGINT", "SIGHUP"];

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = createLog(config.logLevel);
  for (const { variable, message } of unknownVariables(process.env, "server")) log.warn({ variable }, message);
  const signalled = Promise.withResolvers<string>();
  const leaving = new AbortController();
  for (const signal of stopSignals()) {
    process.once(signal, () => {
      // The time counts from the signal, which may arrive while the server still starts.
      setTimeout(() => process.exit(1), DRAIN_MS).unref();
      leaving.abort();
      signalled.resolve(signal);
    });
  }
  const stop = await serve(config, log, leaving.signal).catch((error: unknown) => {
    // The signal arrived during the start: everything that had started is stopped.
    if (leaving.signal.aborted && error instanceof Error && error.name === "AbortError") return undefined;
    throw error;
  });
  if (!stop) return;
  log.info({ signal: await signalled.promise }, "stopping; steps keep running on their delegates");
  await stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    printError(error);
    process.exit(error instanceof ConfigError ? error.exitCode : 1);
  },
);
