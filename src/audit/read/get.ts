import type { Actor } from "../../core/actor.ts";
import { fromWire } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import type { AuditEntry } from "../entry.ts";
import type { MayRead } from "./list.ts";
import { problem } from "../problems.ts";
import { findEntry } from "../store/entries.ts";

/** Gets one entry of the account's trail. The id has 22 characters of base64url. Throws `audit.not_found`. */
export const getAudit =
  (deps: { db: Db; authorize: MayRead }) =>
  async (actor: Actor, id: string): Promise<AuditEntry> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_audit_view", { accountId });
    const uuid = fromWire(id);
    const entry = uuid && (await findEntry(deps.db, accountId, uuid));
    if (!entry) throw problem("audit.not_found", [id]);
    return entry;
  };

export type GetAudit = ReturnType<typeof getAudit>;
