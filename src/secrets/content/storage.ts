/** How contents are kept: which kinds of managers there are, and what an operator does with keys. */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import { holdRootKey, createRootKeyOf } from "../../identity/index.ts";
import type { KeyRing } from "../../platform/crypto/key-ring.ts";
import type { SealedStore } from "../../platform/crypto/sealed-store.ts";
import type { Db } from "../../platform/db/db.ts";
import { createWrappers, type Wrappers } from "../managers/kinds/kinds.ts";
import type { KindDeps } from "../managers/kinds/kind.ts";
import { rotateDataKeys, type RotateDataKeys } from "./rotate-data-keys.ts";
import { createSealedSecrets } from "./sealed-store.ts";
import { createVault, type Vault } from "./vault.ts";

export type SecretStorageDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly keys: KeyRing;
  /** Programs that secret managers may ask. */
  readonly commands: KindDeps["commands"];
};

export type SecretStorage = {
  readonly vault: Vault;
  readonly wrappers: Wrappers;
  readonly sealed: SealedStore;
  readonly rotateDataKeys: RotateDataKeys;
};

export function createSecretStorage(deps: SecretStorageDeps): SecretStorage {
  const { db, keys, newId, commands, clock } = deps;
  const holdKey = holdRootKey(keys);
  const wrappers = createWrappers({
    db,
    keys,
    rootKeyOf: createRootKeyOf(keys),
    holdRootKey: holdKey,
    commands,
    elapsed: clock.elapsed,
  });
  const vault = createVault({ newId, wrappers });
  return {
    vault,
    wrappers,
    sealed: createSealedSecrets({ db, vault, wrapper: wrappers.platform, holdRootKey: holdKey }),
    rotateDataKeys: rotateDataKeys({ ...deps, vault }),
  };
}
