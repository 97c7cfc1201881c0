/** The first step of a rotation: from its commit on, nothing of the account is sealed under the former root key. */
import type { Uuid } from "../core/ids.ts";
import { toWire } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import type { Db } from "../platform/db/db.ts";
import { checkedRootKey, keyCheckOf } from "./root-key.ts";
import { lockAccountKey, saveRootKey } from "./store/root-keys.ts";

type Deps = { readonly db: Db; readonly audit: Audit; readonly keys: KeyRing };

/**
 * Makes the preferred key the account's. Waits for those who seal just now (HoldRootKey). Answers the key that was used
 * before, which is the same one when a former run came as far as this. Throws `identity.wrong_root_key`.
 */
export type ChangeRootKey = (accountId: Uuid) => Promise<string>;

export const makeChangeRootKey =
  ({ db, audit, keys }: Deps): ChangeRootKey =>
  (accountId) =>
    db.transaction(async (tx) => {
      const account = await lockAccountKey(tx, accountId);
      const former = checkedRootKey(keys, account);
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
