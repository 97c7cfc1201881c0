import type { Actor } from "../../../core/actor.ts";
import { problem } from "../../problems.ts";
import { countApiKeys, insertApiKey, lockParent } from "../../store/keys.ts";
import type { ApiKey, ApiKeyFields, Parent, ParentRef } from "../api-key.ts";
import { MAX_KEYS, keyEntry, type KeyDeps, type KeyOf } from "./shared.ts";

/** Throws what FindParent throws, `api_key.duplicate`, `api_key.too_many`. */
export const createApiKey =
  (deps: KeyDeps) =>
  async (actor: Actor, ref: ParentRef, fields: ApiKeyFields): Promise<KeyOf> => {
    const parent = await deps.findParent(actor, ref, "make");
    const at = deps.clock.now();
    const key: ApiKey = { ...fields, id: deps.newId(), createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      // Locked until the commit, so that the count stays correct and the owner is not deleted meanwhile.
      if (!(await lockParent(tx, actor.accountId, parent))) throw createDeletedOwnerProblem(parent);
      if ((await countApiKeys(tx, actor.accountId, { parentId: parent.id, filter: {} })) >= MAX_KEYS)
        throw problem("api_key.too_many", [`${MAX_KEYS}`]);
      if (!(await insertApiKey(tx, actor.accountId, { parent, key })))
        throw problem("api_key.duplicate", [fields.identifier]);
      await deps.audit.record(tx, actor, keyEntry("create", { parent, after: key }));
    });
    return { parent, key };
  };

export type CreateApiKey = ReturnType<typeof createApiKey>;

/** The error for an owner that was deleted between two statements. */
const createDeletedOwnerProblem = ({ type, identifier }: Parent): Error =>
  type === "USER" ? problem("identity.no_user") : problem("service_account.not_found", [identifier]);
