import type { Uuid } from "../core/ids.ts";
import { referred, type Referred } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { ConnectorUser } from "./connector.ts";
import { replaceUses } from "./store/uses.ts";

/**
 * Notes which connectors something names, in the transaction that saves it; what it named before is forgotten, so
 * an empty list says that it is gone. References are read from where the user lives; those that are only known at
 * run time (`<+…>`) name nothing yet. A connector that is named is not deleted without force.
 */
export type NoteConnectorUses = (
  tx: Tx,
  accountId: Uuid,
  user: ConnectorUser,
  references: readonly string[],
) => Promise<void>;

export const noteConnectorUses: NoteConnectorUses = (tx, accountId, user, references) => {
  const keys = references.map((reference) => referred(reference, user));
  return replaceUses(
    tx,
    accountId,
    user,
    keys.filter((key): key is Referred => key !== undefined),
  );
};
