import { usersTold } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { commonProblem } from "../core/problems.ts";
import type { Tx } from "../platform/db/db.ts";
import { scopeWithin, type SecretDeps } from "./create.ts";
import { findPermitted, notFound, type SecretRef } from "./find.ts";
import { shownSecret, type Secret } from "./secret.ts";
import { noteTaken } from "./ssh-references.ts";
import { deleteSecret, lockSecret } from "./store/secrets.ts";
import { usersOfSecret } from "./store/uses.ts";
import { stale } from "./update.ts";

export type HowToDelete = {
  readonly version?: number | undefined;
  /** Also one that is used. */
  readonly force?: boolean;
};

/** Throws `secret.not_found`, `core.stale_version`, `core.referenced`. */
export type DeleteSecret = (actor: Actor, ref: SecretRef, how?: HowToDelete) => Promise<void>;

export const makeDeleteSecret =
  (deps: Pick<SecretDeps, "db" | "audit" | "authorize">): DeleteSecret =>
  async (actor, ref, { version, force = false } = {}) => {
    const { accountId } = actor;
    const found = await findPermitted(deps, actor, "core_secret_delete", ref);
    await deps.db.transaction(async (tx) => {
      const current = await lockSecret(tx, accountId, found.id);
      if (!current) throw notFound(ref);
      if (!force) await refuseUsed(tx, actor, current);
      if (!(await deleteSecret(tx, accountId, current.id, version))) throw stale(current, version);
      await noteTaken(tx, accountId, current, true);
      await deps.audit.record(tx, actor, {
        operation: "secret.delete",
        resourceType: "SECRET",
        resourceId: current.identifier,
        scope: scopeWithin(current),
        before: shownSecret(current),
      });
    });
  };

/** With the secret locked: whoever names it from now on waits, and finds it gone. */
async function refuseUsed(tx: Tx, actor: Actor, secret: Secret): Promise<void> {
  const users = await usersOfSecret(tx, actor.accountId, secret);
  if (users.length > 0) throw commonProblem("core.referenced", ["Secret", secret.identifier, usersTold(actor, users)]);
}
