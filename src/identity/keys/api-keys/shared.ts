/** Shared by the operations on API keys. */
import type { Audit, AuditedChange } from "../../../audit/index.ts";
import type { Clock } from "../../../core/clock.ts";
import type { NewId, Uuid } from "../../../core/ids.ts";
import { within } from "../../../core/reference.ts";
import type { Db, Tx } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import { lockApiKey } from "../../store/keys.ts";
import { shownKey, type ApiKey, type Parent } from "../api-key.ts";
import type { FindParent } from "../parent.ts";

export type KeyDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly findParent: FindParent;
  /** Notifies every replica after the commit that credentials have ended. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
};

/** An API key with the owner that responses show. */
export type KeyOf<T extends ApiKey = ApiKey> = { readonly parent: Parent; readonly key: T };

/** Limit per owner, so that a list can show all of them. */
export const MAX_KEYS = 1_000;

/** Locks and returns the key. Throws `api_key.not_found`. */
export async function requireLockedKey(
  tx: Tx,
  accountId: Uuid,
  { parent, identifier }: { readonly parent: Parent; readonly identifier: string },
): Promise<ApiKey> {
  const key = await lockApiKey(tx, accountId, { parentId: parent.id, identifier });
  if (!key) throw problem("api_key.not_found", [identifier]);
  return key;
}

type Change = {
  readonly parent: Parent;
  readonly before?: ApiKey;
  readonly after?: ApiKey;
};

/** The audit entry of a changed API key. */
export const keyEntry = (
  operation: "create" | "update" | "delete",
  { parent, before, after }: Change,
): AuditedChange => ({
  operation: `api-key.${operation}`,
  resourceType: "API_KEY",
  resourceId: `${parent.identifier}/${(after ?? before)?.identifier}`,
  scope: within(parent),
  before: before && shownKey(before),
  after: after && shownKey(after),
});
