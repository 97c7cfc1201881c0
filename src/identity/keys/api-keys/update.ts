import type { Actor } from "../../../core/actor.ts";
import { sameIdentifier } from "../../problems.ts";
import { updateApiKey as updateApiKeyRow } from "../../store/keys.ts";
import type { ApiKeyFields, ParentRef } from "../api-key.ts";
import { keyEntry, requireLockedKey, type KeyDeps, type KeyOf } from "./shared.ts";

type ApiKeyChange = {
  /** Of the key, as the path names it. */
  readonly identifier: string;
  readonly fields: ApiKeyFields;
};

/** Throws what FindParent throws, `api_key.not_found`. */
export const updateApiKey =
  (deps: KeyDeps) =>
  async (actor: Actor, ref: ParentRef, { identifier, fields }: ApiKeyChange): Promise<KeyOf> => {
    const parent = await deps.findParent(actor, ref, "make");
    sameIdentifier(fields, identifier);
    return deps.db.transaction(async (tx) => {
      const former = await requireLockedKey(tx, actor.accountId, { parent, identifier: fields.identifier });
      const key = { ...former, ...fields, updatedAt: deps.clock.now() };
      await updateApiKeyRow(tx, actor.accountId, key);
      await deps.audit.record(tx, actor, keyEntry("update", { parent, before: former, after: key }));
      return { parent, key };
    });
  };

export type UpdateApiKey = ReturnType<typeof updateApiKey>;
