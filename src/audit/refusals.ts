/**
 * Refused attempts on their way into the audit trail. The caller gets the response at once, and the trail gets the
 * entry within a second. Limits protect trail and memory: 1. The first attempt of a kind (account, actor or claimed
 * one, address, operation, code) becomes an entry. 2. Its repeats are counted for a minute and become one entry with
 * their number, the number of different resources, and some of their names (repeats.ts). 3. Each account has at most
 * 120 kinds a minute; further ones are counted in one entry. 4. Attempts that name an unknown account are dropped, and
 * never displace those of authenticated actors.
 */
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { NoteRefused, RefusedAttempt } from "../core/refused.ts";
import type { Db } from "../platform/db/db.ts";
import type { AuditEntry } from "./entry.ts";
import { differenceOf } from "./difference/difference.ts";
import { outcomeColumns, actorColumns } from "./record.ts";
import { createRepeatCounter, type RefusedAttempts } from "./repeats.ts";
import { existingAccounts, insertEntry } from "./store/entries.ts";

/** Pending attempts of unauthenticated callers. The account that they name may not exist. */
const MAX_PENDING = 1_000;

/** The operation of the entry for all kinds beyond the limit. */
export const OVERFLOW = "audit.refuse-more";

export type Refusals = {
  readonly record: NoteRefused;
  /** Writes pending attempts; with `all` also those that are still counted. */
  readonly flush: (all?: "all") => Promise<void>;
};

export function createRefusals(deps: { db: Db; clock: Clock; newId: NewId }): Refusals {
  let pending: RefusedAttempts[] = [];
  let pendingUnauthenticated = 0;
  const repeats = createRepeatCounter((ended) => pending.push(ended));

  function record(attempt: RefusedAttempt): void {
    const at = deps.clock.now();
    const key = keyOf(attempt);
    // Authentication fails before a resource is looked up, so unauthenticated callers learn of none.
    const occurrence = { at, resource: attempt.actor && nameOf(attempt) };
    if (repeats.add(key, occurrence)) return;
    const tooMany = repeats.isFullFor(attempt.accountId);
    const more = `${attempt.accountId} more`;
    if (tooMany && repeats.add(more, occurrence)) return;
    // Unauthenticated callers may name many accounts, so their attempts have a limit of their own.
    if (!attempt.actor && (pendingUnauthenticated >= MAX_PENDING || repeats.isFull())) return;
    if (!attempt.actor) pendingUnauthenticated += 1;
    const first = tooMany ? overflowAttempt(attempt) : attempt;
    repeats.begin(tooMany ? more : key, first, occurrence);
    pending.push({ attempt: first, at, attempts: 1 });
  }

  async function write(batch: readonly RefusedAttempts[]): Promise<void> {
    const named = [...new Set(batch.map(({ attempt }) => attempt.accountId))];
    const there = await existingAccounts(deps.db, named);
    const entries = batch.filter(({ attempt }) => there.has(attempt.accountId));
    if (entries.length === 0) return;
    await deps.db.transaction(async (tx) => {
      for (const one of entries) await insertEntry(tx, entryOf(one, deps.newId()));
    });
  }

  return {
    record,
    async flush(all) {
      repeats.endPeriods(deps.clock.now(), all === "all");
      const batch = pending;
      pending = [];
      pendingUnauthenticated = 0;
      if (batch.length === 0) return;
      await write(batch).catch((error: unknown) => {
        // Retried with the next ones up to the limit: the database may be unavailable for long.
        if (pending.length < MAX_PENDING) pending = [...batch.slice(-MAX_PENDING), ...pending];
        throw error;
      });
    },
  };
}

/**
 * The kind of an attempt. Unauthenticated callers are distinguished by their address only, since they choose what they
 * claim. A refused internal access, such as a run's secret, has neither name nor address and is distinguished by the
 * resource.
 */
const keyOf = ({ accountId, actor, operation, code, request, resourceId }: RefusedAttempt): string =>
  [accountId, callerKey(actor, resourceId), request?.remoteAddress ?? "", operation, code].join(" ");

const callerKey = (actor: Actor | undefined, asked: string): string =>
  actor === undefined ? "" : actor.kind === "system" ? `system ${asked}` : `${actor.kind} ${actor.id}`;

/** The resource of an attempt as entries show it: type, scope and name. */
const nameOf = ({ resourceType, resourceId, scope }: RefusedAttempt): string =>
  `${resourceType} ${[scope.orgIdentifier, scope.projectIdentifier, resourceId].filter(Boolean).join("/")}`.slice(
    0,
    256,
  );

const overflowAttempt = ({ accountId, code, status, request }: RefusedAttempt): RefusedAttempt => ({
  accountId,
  operation: OVERFLOW,
  code,
  status,
  resourceType: "AUDIT",
  resourceId: "",
  scope: {},
  request,
});

const entryOf = ({ attempt, at, attempts, resources }: RefusedAttempts, id: Uuid): AuditEntry => ({
  accountId: attempt.accountId,
  id,
  at,
  ...(attempt.actor
    ? actorColumns(attempt.actor)
    : {
        actorKind: "anonymous" as const,
        actorId: null,
        actorName: attempt.claims ?? "unknown",
        actorEmail: null,
      }),
  operation: attempt.operation,
  resourceType: attempt.resourceType,
  resourceId: attempt.resourceId,
  orgIdentifier: attempt.scope.orgIdentifier ?? null,
  projectIdentifier: attempt.scope.projectIdentifier ?? null,
  request: attempt.request ?? null,
  difference: differenceOf(undefined, resources) ?? null,
  ...outcomeColumns({ code: attempt.code, status: attempt.status, permission: attempt.permission, attempts }),
});
