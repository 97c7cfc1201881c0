import type { Actor } from "../core/actor.ts";
import { within } from "../core/reference.ts";
import { shownRemovals } from "../platform/removed-reference.ts";
import type { SecretDeps } from "./create.ts";
import { findPermitted, notFound, type SecretRef } from "./find.ts";
import { shownSecret } from "./secret.ts";
import { deleteLoginReferences } from "./ssh/references.ts";
import { deleteSecretRow, lockSecret } from "./store/secrets.ts";
import { staleVersion } from "./update.ts";
import { secretReferences } from "./references.ts";

export type DeleteOptions = {
  readonly version?: number | undefined;
  /** Deletes the secret although other resources reference it. */
  readonly force?: boolean;
};

/** Deletes a secret and its content. Throws `secret.not_found`, `core.stale_version`, `core.referenced`. */
export const deleteSecret =
  (deps: Pick<SecretDeps, "db" | "audit" | "authorize" | "dereference">) =>
  async (actor: Actor, ref: SecretRef, { version, force = false }: DeleteOptions = {}): Promise<void> => {
    const { accountId } = actor;
    const found = await findPermitted(deps, actor, "core_secret_delete", ref);
    await deps.db.transaction(async (tx) => {
      const current = await lockSecret(tx, accountId, found.id);
      if (!current) throw notFound(ref);
      if (!force) await secretReferences.requireUnreferenced(tx, actor, current);
      if (!(await deleteSecretRow(tx, accountId, { id: current.id, expected: version })))
        throw staleVersion(current, version);
      await deleteLoginReferences(tx, accountId, current);
      const groups = await deps.dereference(tx, accountId, current, { SECRET: current.identifier });
      await deps.audit.record(tx, actor, {
        operation: "secret.delete",
        resourceType: "SECRET",
        resourceId: current.identifier,
        scope: within(current),
        before: { ...shownRemovals(groups), ...shownSecret(current) },
      });
    });
  };

export type DeleteSecret = ReturnType<typeof deleteSecret>;
