/** `railhead server`: read the configuration, open the database, build, listen, and drain on SIGTERM. */
import { randomUUIDv7 } from "node:crypto";
import { systemClock } from "./core/clock.ts";
import { toWire, type Uuid } from "./core/ids.ts";
import { Problem } from "./core/problem.ts";
import { buildPlatform, DEFAULT_ORGANIZATION, type Platform } from "./app.ts";
import { startLocalDelegate, localDelegateDir } from "./delegates/index.ts";
import { WrongRootKey } from "./identity/index.ts";
import { ConfigError, loadRootKey, readConfig, type Config } from "./platform/config/config.ts";
import { factsFile, firstStartText, keepFacts, readFacts, type BootstrapFacts } from "./platform/config/bootstrap.ts";
import { openDatabase } from "./platform/db/open.ts";
import { lockDataDir } from "./platform/db/embedded/lock.ts";
import { makeLog, type Log } from "./platform/log/log.ts";

const DRAIN_MS = 9_000;
const LOCAL_DELEGATE = "local";

async function serve(config: Config, log: Log): Promise<() => Promise<void>> {
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const lock = await lockDataDir(config.dataDir);
    undo.push(() => lock.release());
    const rootKey = loadRootKey(config);
    const database = await openDatabase({ url: config.databaseUrl, lock, log });
    undo.push(database.close);
    let baseUrl = config.publicUrl ?? "";
    const platform = await buildPlatform({
      db: database.db,
      pendingMigrations: database.pendingMigrations,
      rootKey,
      clock: systemClock,
      newId: () => randomUUIDv7() as Uuid,
      log,
      publicUrl: () => baseUrl,
    });
    undo.push(platform.stop);
    const address = await platform.http.app.listen({ host: config.host, port: config.port });
    baseUrl ||= address;
    const accountId = await begin(platform, config.dataDir, baseUrl);
    const jobs = platform.startJobs();
    undo.push(jobs.stop);
    if (config.localDelegate) {
      const local = startLocalDelegate({
        url: address,
        workDir: localDelegateDir(config),
        name: LOCAL_DELEGATE,
        token: () => platform.renewLocalToken(accountId),
        log,
      });
      undo.push(local.stop);
    }
    log.info({ address, database: database.describe }, "listening");
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes the account at the first start and shows its facts, once; later only the address is brought up to date. */
async function begin(platform: Platform, dataDir: string, baseUrl: string): Promise<Uuid> {
  let made: BootstrapFacts | undefined;
  const { accountId } = await platform.firstStart((first) => {
    made = {
      ...first,
      baseUrl,
      accountId: toWire(first.accountId),
      orgIdentifier: DEFAULT_ORGANIZATION,
      adminUserId: toWire(first.adminUserId),
    };
    keepFacts(dataDir, made);
  });
  if (made) process.stdout.write(firstStartText(made, factsFile(dataDir)));
  else {
    const kept = readFacts(dataDir);
    if (kept) keepFacts(dataDir, { ...kept, baseUrl });
  }
  process.stdout.write(`Railhead is ready at ${baseUrl}\n`);
  return accountId;
}

/** Problems of the operator's are told in their own words; anything else with its stack. */
function tell(error: unknown): void {
  const known =
    error instanceof ConfigError || error instanceof WrongRootKey || error instanceof Problem || isListenError(error);
  process.stderr.write(`${known ? (error as Error).message : ((error as Error).stack ?? String(error))}\n`);
}

const isListenError = (error: unknown): boolean => (error as NodeJS.ErrnoException).syscall === "listen";

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = makeLog(config.logLevel);
  const stop = await serve(config, log);
  const drain = (signal: string): void => {
    log.info({ signal }, "stopping; steps keep running on their delegates");
    setTimeout(() => process.exit(1), DRAIN_MS).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "the server could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", drain);
  process.once("SIGINT", drain);
}

main().catch((error: unknown) => {
  tell(error);
  process.exit(1);
});
