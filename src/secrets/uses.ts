import type { Uuid } from "../core/ids.ts";
import { referred } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { SecretUser } from "./secret.ts";
import { holdSecret, replaceSecretUses } from "./store/uses.ts";

/**
 * Notes which secrets something names, in the transaction that saves it; what it named before is forgotten, so an
 * empty list says that it is gone. They must be there, and stay until the transaction ends: a secret that is named is
 * not deleted without force. Throws `secret.bad_reference`.
 */
export type NoteSecretUses = (
  tx: Tx,
  accountId: Uuid,
  user: SecretUser,
  references: readonly string[],
) => Promise<void>;

export const noteSecretUses: NoteSecretUses = async (tx, accountId, user, references) => {
  const keys = references.map((reference) => {
    const key = referred(reference, user);
    if (!key) throw problem("secret.bad_reference", [reference, "this place"]);
    return key;
  });
  for (const [at, key] of keys.entries())
    if (!(await holdSecret(tx, accountId, key)))
      throw problem("secret.bad_reference", [references[at] ?? "", "this place"]);
  await replaceSecretUses(tx, accountId, user, keys);
};
