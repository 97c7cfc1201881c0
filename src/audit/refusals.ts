/**
 * Refused attempts on their way into the audit trail. The caller gets the response at once, and the trail gets the
 * entry within a second. Limits protect trail and memory: 1. The first attempt of a kind (account, actor or claimed
 * one, address, operation, code) becomes an entry. 2. Its repeats are counted for a minute and become one entry with
 * their number, the number of different resources, and some of their names. 3. Each account has at most 120 kinds a minute; further ones are counted in one entry. 4. Attempts that
 * name an unknown account are dropped, and never displace those of authenticated actors.
 */
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { NoteRefused, RefusedAttempt } from "../core/refused.ts";
import type { Db } from "../platform/db/db.ts";
import type { AuditEntry } from "./entry.ts";
import { differenceOf, type AuditView } from "./difference/difference.ts";
import { outcomeColumns, actorColumns } from "./record.ts";
import { existingAccounts, insertEntry } from "./store/entries.ts";

/** The period in milliseconds in which repeats are counted together. */
export const WINDOW_MS = 60_000;
/** The number of kinds in one period: of one account, and of all accounts. */
export const KINDS_OF_ACCOUNT = 120;
const KINDS = 10_000;
/** Pending attempts of unauthenticated callers. The account that they name may not exist. */
const MAX_PENDING = 1_000;
/** Names of resources in one entry. Each kind has room for them, however many other kinds name. */
const SAMPLE = 20;
/** Different resources that are counted in one period: of one kind, and beyond the sample of all kinds. */
const RESOURCES_OF_KIND = 1_000;
const RESOURCES = 50_000;

/** The operation of the entry for all kinds beyond the limit. */
export const OVERFLOW = "audit.refuse-more";

type Counted = {
  readonly first: RefusedAttempt;
  readonly since: number;
  last: number;
  repeats: number;
  /** The different resources of the first attempt and its repeats. */
  readonly resources: Set<string>;
  /** Whether the limits left out resources. */
  hasMore: boolean;
};
type Waiting = {
  readonly attempt: RefusedAttempt;
  readonly at: number;
  readonly attempts: number;
  /** Undefined if the attempts named one resource. */
  readonly resources?: AuditView | undefined;
};

export type Refusals = {
  readonly record: NoteRefused;
  /** Writes pending attempts; with `all` also those that are still counted. */
  readonly flush: (all?: "all") => Promise<void>;
};

export function createRefusals(deps: { db: Db; clock: Clock; newId: NewId }): Refusals {
  const counted = new Map<string, Counted>();
  const kinds = new Map<Uuid, number>();
  let countedResources = 0;
  let waiting: Waiting[] = [];
  let pendingUnauthenticated = 0;

  function record(attempt: RefusedAttempt): void {
    const at = deps.clock.now();
    const key = keyOf(attempt);
    // Authentication fails before a resource is looked up, so unauthenticated callers learn of none.
    const resource = attempt.actor && nameOf(attempt);
    if (repeated(key, at, resource)) return;
    const known = kinds.get(attempt.accountId) ?? 0;
    const tooMany = known >= KINDS_OF_ACCOUNT || counted.size >= KINDS;
    const more = `${attempt.accountId} more`;
    if (tooMany && repeated(more, at, resource)) return;
    // Unauthenticated callers may name many accounts, so their attempts have a limit of their own.
    if (!attempt.actor && (pendingUnauthenticated >= MAX_PENDING || counted.size >= KINDS)) return;
    if (!attempt.actor) pendingUnauthenticated += 1;
    begin(tooMany ? more : key, tooMany ? overflowAttempt(attempt) : attempt, at);
    addResource(tooMany ? more : key, resource);
  }

  function repeated(key: string, at: number, resource: string | undefined): boolean {
    const entry = counted.get(key);
    if (!entry) return false;
    if (at - entry.since >= WINDOW_MS) {
      end(key, entry);
      return false;
    }
    entry.repeats += 1;
    entry.last = at;
    addResource(key, resource);
    return true;
  }

  function addResource(key: string, resource: string | undefined): void {
    const entry = counted.get(key);
    if (resource === undefined || !entry || entry.resources.has(resource)) return;
    const { size } = entry.resources;
    entry.hasMore ||= size >= RESOURCES_OF_KIND || (size >= SAMPLE && countedResources >= RESOURCES);
    if (entry.hasMore) return;
    countedResources += size >= SAMPLE ? 1 : 0;
    entry.resources.add(resource);
  }

  function begin(key: string, attempt: RefusedAttempt, at: number): void {
    counted.set(key, { first: attempt, since: at, last: at, repeats: 0, resources: new Set(), hasMore: false });
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

  function end(key: string, entry: Counted): void {
    const { first, last, repeats } = entry;
    counted.delete(key);
    countedResources -= Math.max(0, entry.resources.size - SAMPLE);
    const known = (kinds.get(first.accountId) ?? 0) - 1;
    if (known > 0) kinds.set(first.accountId, known);
    else kinds.delete(first.accountId);
    if (repeats > 0) waiting.push({ attempt: first, at: last, attempts: repeats, resources: resourcesOf(entry) });
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

/** The resource of an attempt as entries show it: type, scope and name. */
const nameOf = ({ resourceType, resourceId, scope }: RefusedAttempt): string =>
  `${resourceType} ${[scope.orgIdentifier, scope.projectIdentifier, resourceId].filter(Boolean).join("/")}`.slice(
    0,
    256,
  );

/** Of attempts that named different resources: how many, and the first of their names. */
const resourcesOf = ({ resources, hasMore }: Counted): AuditView | undefined =>
  resources.size < 2
    ? undefined
    : {
        resources: hasMore ? `more than ${resources.size}` : resources.size,
        firstResources: [...resources].slice(0, SAMPLE),
      };

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

const entryOf = ({ attempt, at, attempts, resources }: Waiting, id: Uuid): AuditEntry => ({
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
