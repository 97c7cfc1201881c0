/** `railhead secrets …`: rotation of root keys and data keys, and verification of stored values. */
import { toWire, type Uuid } from "../core/ids.ts";
import { createAudit } from "../audit/index.ts";
import { createSealedOutputs } from "../executions/index.ts";
import { changeRootKey, holdRootKey } from "../identity/index.ts";
import { createSealedPasswords } from "../mail/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { findMissingRootKeys, type SealedStore, type BatchResult } from "../platform/crypto/sealed-store.ts";
import type { Tx } from "../platform/db/db.ts";
import { findServersWithoutKey } from "../platform/db/servers.ts";
import { createSecretStorage } from "../secrets/index.ts";
import { createSealedTokens } from "../triggers/index.ts";
import type { Opened } from "./open.ts";
import { problem } from "./problems.ts";
import { namedAccounts, runCommand, printLine, type ExitCode } from "./run.ts";

export type SecretsOptions = { readonly account?: string };

/** All stores of values that are sealed under root keys. A rotation covers only the stores in this list. */
export const sealedStores = (opened: Opened): readonly SealedStore[] => {
  const { db, keys } = opened;
  const tokens = { db, sealer: createSealer(keys, "webhook tokens"), holdRootKey: holdRootKey(keys) };
  const passwords = { ...tokens, sealer: createSealer(keys, "mail passwords") };
  const outputs = { ...tokens, sealer: createSealer(keys, "secret outputs") };
  return [
    keepingOf(opened).sealed,
    createSealedTokens(tokens),
    createSealedPasswords(passwords),
    createSealedOutputs(outputs),
  ];
};

const keepingOf = (opened: Opened): ReturnType<typeof createSecretStorage> =>
  createSecretStorage({ ...opened, commands: opened.config.secretCommands, audit: createAudit(opened) });

/**
 * Makes the preferred root key the one in use and seals everything under it. A second run continues an interrupted one.
 */
export const rotateRootKey = (options: SecretsOptions): Promise<ExitCode> =>
  forEachAccount(options, async (opened, accountId, signal) => {
    const { db, keys } = opened;
    const { id: wanted } = keys.preferred;
    const serversWithoutKey = await findServersWithoutKey(db, wanted);
    if (serversWithoutKey.length > 0)
      throw problem("command.servers_lack_key", [wanted, serversWithoutKey.map(({ name }) => name).join("; ")]);
    const deps = { ...opened, audit: createAudit(opened), requireKeys: requireKeysWith(opened) };
    const former = await changeRootKey(deps)(accountId);
    await printLine(
      former === wanted ? `the root key in use is ${wanted}` : `the root key in use is now ${wanted}, was ${former}`,
    );
    let failed = 0;
    for (const store of sealedStores(opened))
      failed += await printProgress(`${store.what} sealed under ${wanted}`, store.reseal(accountId, wanted), signal);
    return failed;
  });

/** Throws `command.lacks_keys`, which names each missing key with the number and kind of items that need it. */
const requireKeysWith =
  (opened: Opened) =>
  async (tx: Tx, accountId: Uuid): Promise<void> => {
    const missing = await findMissingRootKeys(tx, accountId, { keys: opened.keys, stores: sealedStores(opened) });
    if (missing.length === 0) return;
    const faults = missing.map(
      ({ keyId, what }) => `the root key ${keyId} was not given, and ${what} are sealed under it`,
    );
    throw problem("command.lacks_keys", [faults.join("; ")]);
  };

/** Seals all secrets under new data keys. */
export const rotateDataKeys = (options: SecretsOptions): Promise<ExitCode> =>
  forEachAccount(options, (opened, accountId, signal) =>
    printProgress("secrets sealed under new data keys", keepingOf(opened).rotateDataKeys(accountId), signal),
  );

/** Opens every sealed value. Exit code 1 when one cannot be opened. */
export const verifySecrets = (options: SecretsOptions): Promise<ExitCode> =>
  forEachAccount(options, async (opened, accountId, signal) => {
    let failed = 0;
    for (const store of sealedStores(opened))
      failed += await printProgress(`${store.what} can be opened`, store.verify(accountId), signal);
    return failed;
  });

type PerAccount = (opened: Opened, accountId: Uuid, signal: AbortSignal) => Promise<number>;

/** Runs `work` for each account. Exit code 1 when values could not be opened, 2 when interrupted. */
const forEachAccount = (options: SecretsOptions, work: PerAccount): Promise<ExitCode> =>
  runCommand(async (opened, signal) => {
    let failed = 0;
    for (const accountId of await namedAccounts(opened.db, options.account)) {
      await printLine(`account ${toWire(accountId)}`);
      failed += await work(opened, accountId, signal);
      if (signal.aborted) return 2;
    }
    return failed > 0 ? 1 : 0;
  });

/**
 * Prints the number of successes and the name of each failure, without values. For a missing root key, which affects
 * everything sealed under it, it prints only the key. Stops between two batches. Returns the number of failures.
 */
async function printProgress(what: string, batches: AsyncGenerator<BatchResult>, signal: AbortSignal): Promise<number> {
  let [done, failed] = [0, 0];
  const countOfKey = new Map<string, number>();
  for await (const batch of batches) {
    done += batch.done;
    failed += batch.failed.length + (batch.missingKeyIds?.length ?? 0);
    for (const name of batch.failed) await printLine(`  cannot be opened: ${name}`);
    for (const key of batch.missingKeyIds ?? []) countOfKey.set(key, (countOfKey.get(key) ?? 0) + 1);
    if (signal.aborted) break;
  }
  for (const [key, count] of countOfKey)
    await printLine(
      `  ${count} cannot be opened without the root key ${key}, which was not given (RAILHEAD_ROOT_KEY…)`,
    );
  await printLine(`  ${done} ${what}${failed > 0 ? `, ${failed} cannot be opened` : ""}`);
  return failed;
}
