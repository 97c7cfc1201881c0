import type { GrantsOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { findServiceAccount } from "../store/service-accounts.ts";

/**
 * Returns the account's service account with this identifier as an actor, for credentials that name one in a setting.
 */
export const actAs =
  ({ db, grantsOf }: { readonly db: Db; readonly grantsOf: GrantsOf }) =>
  async (accountId: Uuid, identifier: string): Promise<Actor | undefined> => {
    const found = await findServiceAccount(db, accountId, {
      orgIdentifier: null,
      projectIdentifier: null,
      identifier,
    });
    if (!found) return undefined;
    const { id, name, email } = found;
    const grants = await grantsOf(accountId, { type: "SERVICE_ACCOUNT", id });
    return { kind: "service_account", accountId, id, identifier, name, email, grants };
  };

/** Undefined if the account itself has no such service account; those of organizations and projects do not count. */
export type ActAs = ReturnType<typeof actAs>;
