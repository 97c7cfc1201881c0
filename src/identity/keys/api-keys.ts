import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import { within } from "../../core/reference.ts";
import type { Audit } from "../../audit/index.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem, sameIdentifier } from "../problems.ts";
import { shownKey, type ApiKey, type ApiKeyFields, type ListedApiKey, type Parent, type ParentRef } from "./api-key.ts";
import type { FindParent } from "./parent.ts";
import * as store from "../store/keys.ts";

export type KeyDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly findParent: FindParent;
  /** Notifies every replica after the commit that credentials have ended. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

type Of<T> = { readonly parent: Parent; readonly key: T };

/** Limit per owner, so that a list can show all of them. */
const MAX_KEYS = 1_000;

/**
 * Operations on the API keys of an owner. Each throws what `FindParent` throws, `api_key.not_found` for an unknown key,
 * and `api_key.duplicate` for a taken identifier.
 */
export type ApiKeys = {
  readonly create: (actor: Actor, ref: ParentRef, fields: ApiKeyFields) => Promise<Of<ApiKey>>;
  readonly update: (actor: Actor, ref: ParentRef, identifier: string, fields: ApiKeyFields) => Promise<Of<ApiKey>>;
  /** Deletes the key with its tokens, which end within a second on every replica. */
  readonly remove: (actor: Actor, ref: ParentRef, identifier: string) => Promise<void>;
  readonly get: (actor: Actor, ref: ParentRef, identifier: string) => Promise<Of<ListedApiKey>>;
  /** Lists keys, sorted by identifier. */
  readonly list: (
    actor: Actor,
    ref: ParentRef,
    filter: store.ListFilter,
    window?: Window,
  ) => Promise<Page<Of<ListedApiKey>>>;
};

export function createApiKeys(deps: KeyDeps): ApiKeys {
  const { db, findParent } = deps;
  type Sides = { readonly before?: ApiKey; readonly after?: ApiKey };
  const record = (tx: Tx, actor: Actor, verb: string, parent: Parent, { before, after }: Sides): Promise<void> =>
    deps.audit.record(tx, actor, {
      operation: `api-key.${verb}`,
      resourceType: "API_KEY",
      resourceId: `${parent.identifier}/${(after ?? before)?.identifier}`,
      scope: within(parent),
      before: before && shownKey(before),
      after: after && shownKey(after),
    });
  const lock = async (tx: Tx, actor: Actor, parent: Parent, identifier: string): Promise<ApiKey> => {
    const key = await store.lockApiKey(tx, actor.accountId, parent.id, identifier);
    if (!key) throw problem("api_key.not_found", [identifier]);
    return key;
  };

  return {
    async create(actor, ref, fields) {
      const parent = await findParent(actor, ref, "make");
      const at = deps.clock.now();
      const key = { ...fields, id: deps.newId(), createdAt: at, updatedAt: at };
      await db.transaction(async (tx) => {
        // Locked until the commit, so that the count stays correct and the owner is not deleted meanwhile.
        if (!(await store.lockParent(tx, actor.accountId, parent))) throw gone(parent);
        if ((await store.countApiKeys(tx, actor.accountId, parent.id)) >= MAX_KEYS)
          throw problem("api_key.too_many", [`${MAX_KEYS}`]);
        if (!(await store.insertApiKey(tx, actor.accountId, parent, key)))
          throw problem("api_key.duplicate", [fields.identifier]);
        await record(tx, actor, "create", parent, { after: key });
      });
      return { parent, key };
    },
    async update(actor, ref, identifier, fields) {
      const parent = await findParent(actor, ref, "make");
      sameIdentifier(fields, identifier);
      return db.transaction(async (tx) => {
        const former = await lock(tx, actor, parent, fields.identifier);
        const key = { ...former, ...fields, updatedAt: deps.clock.now() };
        await store.updateApiKey(tx, actor.accountId, key.id, key, key.updatedAt);
        await record(tx, actor, "update", parent, { before: former, after: key });
        return { parent, key };
      });
    },
    async remove(actor, ref, identifier) {
      const parent = await findParent(actor, ref, "end");
      await db.transaction(async (tx) => {
        const key = await lock(tx, actor, parent, identifier);
        await store.deleteApiKey(tx, actor.accountId, key.id);
        await record(tx, actor, "delete", parent, { before: key });
        deps.notifyCredentialsEnded(tx);
      });
    },
    async get(actor, ref, identifier) {
      const parent = await findParent(actor, ref, "view");
      const key = await store.findApiKey(db, actor.accountId, parent.id, identifier);
      if (!key) throw problem("api_key.not_found", [identifier]);
      return { parent, key };
    },
    async list(actor, ref, filter, window = { limit: MAX_KEYS, offset: 0 }) {
      const parent = await findParent(actor, ref, "view");
      const keys = await store.listApiKeys(db, actor.accountId, parent.id, filter, window);
      const total = (): Promise<number> => store.countApiKeys(db, actor.accountId, parent.id, filter);
      return { items: keys.map((key) => ({ parent, key })), ...window, total };
    },
  };
}

/** The error for an owner that was deleted between two statements. */
export const gone = ({ type, identifier }: Parent): Error =>
  type === "USER" ? problem("identity.no_user") : problem("service_account.not_found", [identifier]);
