import { actorId, actorEmail, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Tx } from "../platform/db/db.ts";
import { differenceOf } from "./difference/difference.ts";
import type { AuditedChange, AuditEntry, Refusal } from "./entry.ts";
import { insertEntries, insertEntry } from "./store/entries.ts";

/** Appends entries to the audit trail. Their ids and times are set here. */
export type Audit = {
  /** Appends an entry in the caller's transaction, so that change and entry are committed together. */
  readonly record: (tx: Tx, actor: Actor, change: AuditedChange) => Promise<void>;
  /** As `record` for several changes, with one statement. */
  readonly recordAll: (tx: Tx, actor: Actor, changes: readonly AuditedChange[]) => Promise<void>;
};

/** The actor's columns of an entry. */
export const actorColumns = (actor: Actor): Pick<AuditEntry, "actorKind" | "actorId" | "actorName" | "actorEmail"> => ({
  actorKind: actor.kind,
  actorId: actorId(actor),
  actorName: actor.kind === "system" ? "system" : actor.name,
  actorEmail: actorEmail(actor),
});

/** Needs no database: entries are written through the caller's transaction. */
export function createAudit(deps: { clock: Clock; newId: NewId }): Audit {
  const entryOf = (actor: Actor, { before, after, scope, refusal, ...change }: AuditedChange): AuditEntry => ({
    id: deps.newId(),
    at: deps.clock.now(),
    accountId: actor.accountId,
    ...actorColumns(actor),
    ...change,
    orgIdentifier: scope.orgIdentifier ?? null,
    projectIdentifier: scope.projectIdentifier ?? null,
    // Set by `platform/http/callers.ts` for the actor of a request.
    request: actor.request ?? null,
    difference: differenceOf(before, after) ?? null,
    ...outcomeColumns(refusal),
  });
  return {
    record: (tx, actor, change) => insertEntry(tx, entryOf(actor, change)),
    recordAll: (tx, actor, changes) =>
      insertEntries(
        tx,
        changes.map((change) => entryOf(actor, change)),
      ),
  };
}

type Outcomes = Pick<AuditEntry, "outcome" | "code" | "status" | "permission" | "attempts">;

export const outcomeColumns = (refusal: Refusal | undefined): Outcomes =>
  refusal
    ? {
        outcome: "refused",
        code: refusal.code,
        status: refusal.status,
        permission: refusal.permission ?? null,
        attempts: refusal.attempts ?? 1,
      }
    : { outcome: "success", code: null, status: null, permission: null, attempts: 1 };
