import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Scope } from "../../core/scope.ts";
import type { Db } from "../../platform/db/db.ts";
import type { AuditEntry, AuditFilter } from "../entry.ts";
import { countEntries, listEntries } from "../store/entries.ts";

/** Throws unless the actor may read the trail. The access slice provides it. */
export type MayRead = (actor: Actor, permission: "core_audit_view", scope: Scope) => void;

/** Lists the trail of the account, newest first by default. */
export const listAudits =
  (deps: { db: Db; authorize: MayRead }) =>
  async (actor: Actor, filter: AuditFilter, window: Window): Promise<Page<AuditEntry>> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_audit_view", { accountId });
    const items = await listEntries(deps.db, accountId, filter, window);
    return { items, ...window, total: () => countEntries(deps.db, accountId, filter) };
  };

export type ListAudits = ReturnType<typeof listAudits>;
