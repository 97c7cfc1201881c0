/** Storage of secret contents: the vault, the kinds of secret managers, and the rotation of keys. */
import type { Audit } from "../../audit/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import { holdRootKey, createRootKeyOf } from "../../identity/index.ts";
import type { KeyRing } from "../../platform/crypto/key-ring.ts";

import type { Db } from "../../platform/db/db.ts";
import { createWrappers } from "../managers/kinds/kinds.ts";
import type { KindDeps } from "../managers/kinds/kind.ts";
import { rotateDataKeys } from "./rotate-data-keys.ts";
import { createSealedSecrets } from "./rotate-root-key.ts";
import { createVault } from "./vault.ts";

export type SecretStorageDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly keys: KeyRing;
  /** Programs that secret managers may call. */
  readonly commands: KindDeps["commands"];
};

/** Builds what seals and opens the contents of secrets. `createSecrets` and the administration commands share it. */
export function createSecretStorage(deps: SecretStorageDeps) {
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
