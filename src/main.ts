/** `railhead server`: read the configuration, open the database, build, listen, and drain on SIGTERM, SIGINT and SIGHUP. */
import { randomUUIDv7 } from "node:crypto";
import { unlinkSync } from "node:fs";
import { buildPlatform, DEFAULT_ORGANIZATION, type FirstStart, type Platform } from "./app.ts";
import { toWire, type Uuid } from "./core/ids.ts";
import { Problem } from "./core/problem.ts";
import { factsFile, firstStartText, keepFacts, readFacts, type BootstrapFacts } from "./platform/config/bootstrap.ts";
import { ConfigError, loadRootKeys, readConfig, type Config } from "./platform/config/config.ts";
import type { KeyRing } from "./platform/crypto/key-ring.ts";
import { lackedKeys } from "./platform/crypto/sealed-store.ts";
import { createFolder } from "./platform/folder.ts";
import type { Db } from "./platform/db/db.ts";
import { startDatabaseClock } from "./platform/db/clock.ts";
import { lockDataDir } from "./platform/db/embedded/lock.ts";
import { openDatabase } from "./platform/db/open.ts";
import { onceReachable } from "./platform/db/reachable.ts";
import { serverName } from "./platform/db/servers.ts";
import { createWaitingServer } from "./platform/http/waiting-server.ts";
import { createLog, type Log } from "./platform/log/log.ts";
import { unknownVariables } from "./platform/variables/variables.ts";

/** Below the ten seconds after which whoever sent SIGTERM may lose patience. */
const DRAIN_MS = 9_000;

type Undo = () => Promise<void> | void;

/** Starts everything; answers how to stop it, in the opposite order. What has started is stopped again when the rest cannot. */
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
  let madeKey: string | undefined;
  const keys = await loadRootKeys(config, (path) => void (madeKey = path));
  if (config.localDelegate && config.delegateDir !== undefined) await checkDelegateDir(config.delegateDir);
  const instead = createWaitingServer(config);
  onStop(() => instead.close().then(() => {}));
  const database = await openDatabase({
    ...{ url: config.databaseUrl, lock, log, name: serverName(keys) },
    connections: config.databaseConnections,
    waiting: { signal: leaving, onWaiting: () => instead.open().catch(cannotListen(config)) },
  });
  onStop(() => database.close());
  // The database may go again at any moment of the start.
  const reached = <T>(onWaiting: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
    const url = config.databaseUrl;
    return url === undefined ? work() : onceReachable(url, { log, waiting: { signal: leaving, onWaiting } }, work);
  };
  const { clock, stop: stopClock } = await reached(
    () => instead.open().catch(cannotListen(config)),
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
  });
  onStop(() => platform.stop());
  const address = await listen(platform, { ...config, port: await instead.close() });
  baseUrl ||= address;
  // From here on the platform itself listens, and says that it is not ready.
  const listening = async (): Promise<void> => {};
  const { accountId, rootKeyId } = await reached(listening, () => begin(platform, config.dataDir, baseUrl)).catch(
    (error: unknown) => {
      if (madeKey !== undefined && error instanceof Problem && error.code === "identity.wrong_root_key")
        dropKey(madeKey);
      throw error;
    },
  );
  await reached(listening, () =>
    tellKeys({ accountId, rootKeyId, keys, db: database.db, sealed: platform.sealed, log }),
  );
  const jobs = platform.startJobs();
  onStop(() => jobs.stop());
  if (config.localDelegate) {
    const local = platform.startLocalDelegate({ ...config, accountId, url: address });
    onStop(() => local.stop());
  }
  platform.ready();
  // The address as a whole is told once, at the first start; bootstrap.json always has it.
  const { hostname, port } = new URL(address);
  log.info({ host: hostname, port: Number(port), database: database.describe }, "listening");
  process.stdout.write("Railhead is ready.\n");
}

type Keyed = Pick<FirstStart, "accountId" | "rootKeyId"> &
  Pick<Platform, "sealed"> & { readonly keys: KeyRing; readonly db: Db; readonly log: Log };

/** What the operator has to know of keys: that a new one is not in use yet, that a former one is needed and was not given. */
async function tellKeys({ accountId, rootKeyId, keys, db, sealed, log }: Keyed): Promise<void> {
  if (rootKeyId !== keys.preferred.id)
    log.warn(
      { used: rootKeyId, given: keys.preferred.id },
      "another root key is in use than RAILHEAD_ROOT_KEY gives; change it with: railhead secrets rotate root-key",
    );
  // It starts all the same: who has lost a key can give these secrets new values only through a server.
  for (const { keyId, what } of await lackedKeys(db, keys, accountId, sealed))
    log.error(
      { needed: keyId, what },
      "a root key is needed that was not given: these cannot be used until the interrupted rotation has ended",
    );
}

/** A key that was made just now for a database that has another: left behind it would be taken for the one that counts. */
function dropKey(path: string): void {
  unlinkSync(path);
  process.stderr.write(`The root key that was generated in ${path} was removed: nothing is sealed under it.\n`);
}

/** The delegate itself could only end again and again. */
async function checkDelegateDir(path: string): Promise<void> {
  try {
    // As the delegate makes it: others pass through to where their steps work.
    await createFolder(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`RAILHEAD_DELEGATE_DIR names ${path}, which is no folder and cannot be made one: ${why}.`]);
  }
}

type Address = Pick<Config, "host" | "port">;

const listen = ({ http }: Platform, { host, port }: Address): Promise<string> =>
  http.app.listen({ host, port }).catch(cannotListen({ host, port }));

/** May pass: the server before may still be at its end. */
const cannotListen =
  ({ host, port }: Address) =>
  (error: unknown): never => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`The server cannot listen on HOST ${host} and PORT ${port}: ${why}.`], { mayPass: true });
  };

/** Makes the account at the first start and shows its facts, once; later only the address is brought up to date. */
async function begin(platform: Platform, dataDir: string, baseUrl: string): Promise<FirstStart> {
  let made: BootstrapFacts | undefined;
  const start = await platform.firstStart((first) => {
    made = {
      baseUrl,
      accountId: toWire(first.accountId),
      orgIdentifier: DEFAULT_ORGANIZATION,
      adminUserId: toWire(first.adminUserId),
      adminEmail: first.adminEmail,
      adminPassword: first.adminPassword,
      apiKey: first.apiKey,
    };
    keepFacts(dataDir, made);
  });
  const kept = made ?? readFacts(dataDir);
  if (made) process.stdout.write(firstStartText(made, factsFile(dataDir)));
  else if (kept) keepFacts(dataDir, { ...kept, baseUrl });
  return start;
}

/** Problems that the operator can mend are told in their own words; anything else with its stack. */
function tell(error: unknown): void {
  const known = error instanceof ConfigError || error instanceof Problem;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${known ? message : (stack ?? message)}\n`);
}

/** A closed terminal sends SIGHUP. Where something listens to it already, it was asked to be ignored (scripts/guard.js). */
const endingSignals = (): readonly ("SIGTERM" | "SIGINT" | "SIGHUP")[] =>
  process.listenerCount("SIGHUP") > 0 ? ["SIGTERM", "SIGINT"] : ["SIGTERM", "SIGINT", "SIGHUP"];

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = createLog(config.logLevel);
  for (const { variable, message } of unknownVariables(process.env, "server")) log.warn({ variable }, message);
  const asked = Promise.withResolvers<string>();
  const leaving = new AbortController();
  for (const signal of endingSignals()) {
    process.once(signal, () => {
      // Counted from the signal: it may come while the start still waits for something.
      setTimeout(() => process.exit(1), DRAIN_MS).unref();
      leaving.abort();
      asked.resolve(signal);
    });
  }
  const stop = await serve(config, log, leaving.signal).catch((error: unknown) => {
    // Asked to end while it waited for its database: all that has started is stopped.
    if (leaving.signal.aborted && error instanceof Error && error.name === "AbortError") return undefined;
    throw error;
  });
  if (!stop) return;
  log.info({ signal: await asked.promise }, "stopping; steps keep running on their delegates");
  await stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    tell(error);
    process.exit(error instanceof ConfigError ? error.exitCode : 1);
  },
);
