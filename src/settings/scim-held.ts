/**
 * Whoever decides whose signed tokens are believed acts as the service account that the settings name. So each of the
 * four is changed by those alone who hold what it does:
 *
 * 1. Any of them while it is named: everything that it holds. 2. The name itself: everything that the one before and
 * the one after hold; to take the name away, the one before. 3. While none is named, or one that there is not: everything
 * there is, since nobody knows whom the next hand names or makes. Read in the transaction of the change.
 */
import type { RequireEverythingHeld, RequireHeldOf } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Tx } from "../platform/db/db.ts";
import { findServiceAccount } from "../identity/index.ts";
import type { SettingIdentifier } from "./catalogue.ts";
import type { Definition, Stored } from "./setting.ts";

/** The setting that names the service account. */
export const ACTS_AS = "scim_jwt_token_service_account_id" satisfies SettingIdentifier;

export type ScimHeldDeps = {
  readonly requireHeldOf: RequireHeldOf;
  readonly requireEverythingHeld: RequireEverythingHeld;
};

/** `rows` are the account's settings as they are, `value` what comes; empty for what is taken away. Throws `access.beyond_own`. */
export const requireScimHeld =
  ({ requireHeldOf, requireEverythingHeld }: ScimHeldDeps) =>
  async (
    tx: Tx,
    actor: Actor,
    {
      definition,
      rows,
      value,
    }: { readonly definition: Definition; readonly rows: readonly Stored[]; readonly value: string },
  ): Promise<void> => {
    if (definition.group !== "scim") return;
    const named = rows.find(({ identifier }) => identifier === ACTS_AS)?.value ?? "";
    const names = definition.identifier === ACTS_AS ? [named, value].filter((name) => name !== "") : [named];
    for (const identifier of names) {
      const key = { orgIdentifier: null, projectIdentifier: null, identifier };
      const found = await findServiceAccount(tx, actor.accountId, key);
      if (found) await requireHeldOf(tx, actor, found.id);
      else requireEverythingHeld(actor);
    }
  };
