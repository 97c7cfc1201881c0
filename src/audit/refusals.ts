/**
 * Refused attempts on their way into the audit trail. The caller gets the response at once, and the trail gets the
 * entry within a second. Limits protect trail and memory: 1. The first attempt of a kind (account, actor or claimed
 * one, address, operation, code) becomes an entry. 2. Its repeats are counted for a minute and become one entry with
 * their number. 3. Each account has at most 120 kinds a minute; further ones are counted in one entry. 4. Attempts that
 * name an unknown account are dropped, and never displace those of authenticated actors.
 */
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { NoteRefused, RefusedAttempt } from "../core/refused.ts";
import type { Db } from "../platform/db/db.ts";
import type { AuditEntry } from "./entry.ts";
import { outcomeColumns, actorColumns } from "./record.ts";
import { existingAccounts, insertEntry } from "./store/entries.ts";

/** The period in milliseconds in which repeats are counted together. */
export const WINDOW_MS = 60_000;
/** The number of kinds in one period: of one account, and of all accounts. */
export const KINDS_OF_ACCOUNT = 120;
const KINDS = 10_000;
/** Pending attempts of unauthenticated callers. The account that they name may not exist. */
const MAX_PENDING = 1_000;

/** The operation of the entry for all kinds beyond the limit. */
export const OVERFLOW = "audit.refuse-more";

type Counted = { readonly first: RefusedAttempt; readonly since: number; last: number; repeats: number };
type Waiting = { readonly attempt: RefusedAttempt; readonly at: number; readonly attempts: number };

export type Refusals = {
  readonly record: NoteRefused;
  /** Writes pending attempts; with `all` also those that are still counted. */
  readonly flush: (all?: "all") => Promise<void>;
};

export function createRefusals(deps: { db: Db; clock: Clock; newId: NewId }): Refusals {
  const counted = new Map<string, Counted>();
  const kinds = new Map<Uuid, number>();
  let waiting: Waiting[] = [];
  let pendingUnauthenticated = 0;

  function record(attempt: RefusedAttempt): void {
    const at = deps.clock.now();
    const key = keyOf(attempt);
    if (repeated(key, at)) return;
    const known = kinds.get(attempt.accountId) ?? 0;
    const tooMany = known >= KINDS_OF_ACCOUNT || counted.size >= KINDS;
    const more = `${attempt.accountId} more`;
    if (tooMany && repeated(more, at)) return;
    // Unauthenticated callers may name many accounts, so their attempts have a limit of their own.
    if (!attempt.actor && (pendingUnauthenticated >= MAX_PENDING || counted.size >= KINDS)) return;
    if (!attempt.actor) pendingUnauthenticated += 1;
    if (tooMany) begin(more, overflowAttempt(attempt), at);
    else begin(key, attempt, at);
  }

  function repeated(key: string, at: number): boolean {
    const entry = counted.get(key);
    if (!entry) return false;
    if (at - entry.since >= WINDOW_MS) {
      end(key, entry);
      return false;
    }
    entry.repeats += 1;
    entry.last = at;
    return true;
  }

  function begin(key: string, attempt: RefusedAttempt, at: number): void {
    counted.set(key, { first: attempt, since: at, last: at, repeats: 0 });
    kinds.set(attempt.accountId, (kinds.get(attempt.accountId) ?? 0) + 1);
    waiting.push({ attempt, at, attempts: 1 });
  }

  /** Ends the periods that are over. Their repeats become pending. */
  function closeWindows(all: boolean): void {
    const now = deps.clock.now();
    for (const [key, entry] of counted) {
      if (all || now - entry.since >= WINDOW_MS) end(key, entry);
    }
  }

  function end(key: string, { first, last, repeats }: Counted): void {
    counted.delete(key);
    const known = (kinds.get(first.accountId) ?? 0) - 1;
    if (known > 0) kinds.set(first.accountId, known);
    else kinds.delete(first.accountId);
    if (repeats > 0) waiting.push({ attempt: first, at: last, attempts: repeats });
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
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
      closeWindows(all === "all");
      const batch = waiting;
      waiting = [];
      pendingUnauthenticated = 0;
      if (batch.length === 0) return;
      await write(batch).catch((error: unknown) => {
        // Retried with the next ones up to the limit: the database may be unavailable for long.
        if (waiting.length < MAX_PENDING) waiting = [...batch.slice(-MAX_PENDING), ...waiting];
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

const entryOf = ({ attempt, at, attempts }: Waiting, id: Uuid): AuditEntry => ({
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
  difference: null,
  ...outcomeColumns({ code: attempt.code, status: attempt.status, permission: attempt.permission, attempts }),
});
