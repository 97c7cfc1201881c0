/** `railhead secrets …`: new root keys, new data keys, and whether everything that is stored can be opened. */
import { toWire, type Uuid } from "../core/ids.ts";
import { createAudit } from "../audit/index.ts";
import { changeRootKey, holdRootKey } from "../identity/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { lackedKeys, type SealedStore, type Swept } from "../platform/crypto/sealed-store.ts";
import type { Tx } from "../platform/db/db.ts";
import { serversWithout } from "../platform/db/servers.ts";
import { createSecretStorage } from "../secrets/index.ts";
import { createSealedTokens } from "../triggers/index.ts";
import type { Opened } from "./open.ts";
import { problem } from "./problems.ts";
import { namedAccounts, runCommand, say, type ExitCode } from "./run.ts";

export type SecretsOptions = { readonly account?: string };

/** Everything that is sealed under root keys. What a new slice seals has to be named here, or a rotation would leave it. */
export const sealedStores = (opened: Opened): readonly SealedStore[] => {
  const { db, keys } = opened;
  const tokens = { db, sealer: createSealer(keys, "webhook tokens"), holdRootKey: holdRootKey(keys) };
  return [keepingOf(opened).sealed, createSealedTokens(tokens)];
};

const keepingOf = (opened: Opened): ReturnType<typeof createSecretStorage> =>
  createSecretStorage({ ...opened, commands: opened.config.secretCommands, audit: createAudit(opened) });

/** The preferred root key becomes the one that is used, and everything is sealed under it. Again, it goes on where it stopped. */
export const rotateRootKey = (options: SecretsOptions): Promise<ExitCode> =>
  overAccounts(options, async (opened, accountId, signal) => {
    const { db, keys } = opened;
    const { id: wanted } = keys.preferred;
    const ignorant = await serversWithout(db, wanted);
    if (ignorant.length > 0)
      throw problem("command.servers_lack_key", [wanted, ignorant.map(({ name }) => name).join("; ")]);
    const deps = { ...opened, audit: createAudit(opened), requireKeys: requireKeysWith(opened) };
    const former = await changeRootKey(deps)(accountId);
    await say(
      former === wanted ? `the root key in use is ${wanted}` : `the root key in use is now ${wanted}, was ${former}`,
    );
    let failed = 0;
    for (const store of sealedStores(opened))
      failed += await tell(`${store.what} sealed under ${wanted}`, store.reseal(accountId, wanted), signal);
    return failed;
  });

/** Throws `command.lacks_keys`, which names each key that is needed and was not given, how many things need it and of what kind. */
const requireKeysWith =
  (opened: Opened) =>
  async (tx: Tx, accountId: Uuid): Promise<void> => {
    const lacked = await lackedKeys(tx, opened.keys, accountId, sealedStores(opened));
    if (lacked.length === 0) return;
    const told = lacked.map(
      ({ keyId, what }) => `the root key ${keyId} was not given, and ${what} are sealed under it`,
    );
    throw problem("command.lacks_keys", [told.join("; ")]);
  };

export const rotateDataKeys = (options: SecretsOptions): Promise<ExitCode> =>
  overAccounts(options, (opened, accountId, signal) =>
    tell("secrets sealed under new data keys", keepingOf(opened).rotateDataKeys(accountId), signal),
  );

export const verifySecrets = (options: SecretsOptions): Promise<ExitCode> =>
  overAccounts(options, async (opened, accountId, signal) => {
    let failed = 0;
    for (const store of sealedStores(opened))
      failed += await tell(`${store.what} can be opened`, store.verify(accountId), signal);
    return failed;
  });

type PerAccount = (opened: Opened, accountId: Uuid, signal: AbortSignal) => Promise<number>;

/** 1 when something could not be opened. */
const overAccounts = (options: SecretsOptions, work: PerAccount): Promise<ExitCode> =>
  runCommand(async (opened, signal) => {
    let failed = 0;
    for (const accountId of await namedAccounts(opened.db, options.account)) {
      await say(`account ${toWire(accountId)}`);
      failed += await work(opened, accountId, signal);
      if (signal.aborted) return 2;
    }
    return failed > 0 ? 1 : 0;
  });

/**
 * Counts what passes and names what fails; never a value. Of what lacks a root key, which is then all that was sealed under it,
 * only the key is named. Stops between two batches.
 */
async function tell(what: string, swept: AsyncGenerator<Swept>, signal: AbortSignal): Promise<number> {
  let [done, failed] = [0, 0];
  const lacking = new Map<string, number>();
  for await (const batch of swept) {
    done += batch.done;
    failed += batch.failed.length + (batch.lacking?.length ?? 0);
    for (const name of batch.failed) await say(`  cannot be opened: ${name}`);
    for (const key of batch.lacking ?? []) lacking.set(key, (lacking.get(key) ?? 0) + 1);
    if (signal.aborted) break;
  }
  for (const [key, count] of lacking)
    await say(`  ${count} cannot be opened without the root key ${key}, which was not given (RAILHEAD_ROOT_KEY…)`);
  await say(`  ${done} ${what}${failed > 0 ? `, ${failed} cannot be opened` : ""}`);
  return failed;
}
