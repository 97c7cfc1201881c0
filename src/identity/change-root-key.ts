/** The first step of a rotation. After its commit, nothing of the account is sealed under the former root key. */
import type { Uuid } from "../core/ids.ts";
import { toWire } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { checkedRootKey, keyCheckOf } from "./root-key.ts";
import { lockAccountKey, saveRootKey } from "./store/root-keys.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly keys: KeyRing;
  /** Throws if a stored value needs a key that was not given. Other slices store sealed values. */
  readonly requireKeys: (tx: Tx, accountId: Uuid) => Promise<void>;
};

/**
 * Makes the preferred key the account's root key. Waits for transactions that seal now (HoldRootKey). Returns the
 * previous key, which is the same if a former run has changed it already. Throws `identity.wrong_root_key` and what
 * `requireKeys` throws.
 */
export const changeRootKey =
  ({ db, audit, keys, requireKeys }: Deps) =>
  (accountId: Uuid): Promise<string> =>
    db.transaction(async (tx) => {
      const account = await lockAccountKey(tx, accountId);
      const former = checkedRootKey(keys, account);
      // No transaction seals while the account is locked. A value sealed under a discarded key would be lost.
      await requireKeys(tx, accountId);
      const { id: wanted } = keys.preferred;
      if (former === wanted && account.rootKeyId !== "") return former;
      await saveRootKey(tx, accountId, { rootKeyId: wanted, keyCheck: keyCheckOf(keys, accountId, wanted) });
      await audit.record(
        tx,
        { kind: "system", accountId },
        {
          operation: "account.change-root-key",
          resourceType: "ACCOUNT",
          resourceId: toWire(accountId),
          scope: {},
          before: { rootKey: former },
          after: { rootKey: wanted },
        },
      );
      return former;
    });
