/** Reads what changes in a project for all its followers on this server. */
import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/problem.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { createPace, resumed } from "../../platform/pace.ts";
import { withStages, type ReadStages } from "../stages.ts";
import { findChanges, type FoundChanges, type ProjectKey, type Snapshot } from "../store/changes.ts";
import { listListed } from "../store/lists.ts";
import { executionSummary } from "../wire/rest.ts";
import { createProjectChanges, type Entry, type ProjectChanges } from "./project-changes.ts";

/** Executions that are read at once. If more have changed, followers list them anew. */
const MOST_ENTRIES = 200;

export type FeedDeps = { readonly db: Db; readonly readStages: ReadStages; readonly clock: Clock };

export type ProjectFeed = {
  readonly project: ProjectKey;
  readonly changes: ProjectChanges;
  /** What the changes are complete to. */
  readonly snapshot: () => Snapshot;
  /** The oldest transaction whose changes may be missing. */
  readonly horizon: () => string;
  /** Something in the project may have changed. */
  readonly wake: () => void;
  /**
   * Resolves when there are changes after `at`, after `ms`, or when `signal` aborts. Rejects when the project cannot be
   * read. `deleted`: it does not exist any more.
   */
  readonly next: (at: number, ms: number, signal: AbortSignal) => Promise<"changed" | "same" | "deleted">;
  readonly isOver: () => boolean;
  readonly stop: () => void;
};

/** `mostCharacters`: of the entries that it keeps. Undefined for a project that does not exist. */
export async function createProjectFeed(
  deps: FeedDeps,
  project: ProjectKey,
  mostCharacters: () => number,
): Promise<ProjectFeed | undefined> {
  let known = await findChanges(deps.db, project, { since: undefined, limit: 0 });
  if (!known.isProject) return undefined;
  const changes = createProjectChanges(mostCharacters);
  const waiting = new Set<() => void>();
  let over: { readonly error?: unknown } | undefined;

  async function take(): Promise<void> {
    const found = await findChanges(deps.db, project, { since: known.snapshot, limit: MOST_ENTRIES + 1 });
    const entries = await readEntries(deps, project, found);
    known = found;
    if (!found.isProject) over = {};
    else if (!entries) changes.reset();
    else if (entries.length > 0) changes.add(entries);
    else return;
    for (const resume of waiting) resume();
  }

  async function read(): Promise<void> {
    try {
      await take();
    } catch (error) {
      over = { error };
      for (const resume of waiting) resume();
    }
  }

  const pace = createPace(deps.clock, read);
  return {
    ...{ project, changes, snapshot: () => known.snapshot, horizon: () => known.horizon },
    wake: () => {
      if (!over) pace.run();
    },
    async next(at, ms, signal) {
      if (!over && changes.at() === at && !signal.aborted) await resumed(waiting, ms, signal);
      if (over?.error !== undefined)
        throw over.error instanceof Error ? over.error : new Error("the project cannot be read");
      if (over) return "deleted";
      return changes.at() > at ? "changed" : "same";
    },
    isOver: () => over !== undefined,
    stop: () => {
      over ??= {};
      pace.stop();
      for (const resume of waiting) resume();
    },
  };
}

/** The executions that have changed since a snapshot. Undefined if followers have to begin anew. */
export async function findEntriesSince(
  deps: FeedDeps,
  project: ProjectKey,
  since: Snapshot,
): Promise<readonly Entry[] | undefined> {
  return readEntries(deps, project, await findChanges(deps.db, project, { since, limit: MOST_ENTRIES + 1 }));
}

async function readEntries(
  deps: FeedDeps,
  { accountId }: ProjectKey,
  { ids, isPast }: FoundChanges,
): Promise<readonly Entry[] | undefined> {
  if (!isPast || ids.length > MOST_ENTRIES) return undefined;
  if (ids.length === 0) return [];
  try {
    return await entriesOf(deps, accountId, ids);
  } catch (error) {
    if (error instanceof Problem && error.code === "execution.too_many_stages") return undefined;
    throw error;
  }
}

async function entriesOf(deps: FeedDeps, accountId: Uuid, ids: readonly Uuid[]): Promise<readonly Entry[]> {
  const window = { limit: ids.length, offset: 0 };
  const listed = await listListed(deps.db, accountId, [{ is: "executionIn", value: ids }], window);
  const order = new Map(ids.map((id, nth) => [id, nth]));
  return (await withStages(deps, accountId, listed))
    .toSorted((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
    .map((execution) => ({
      id: execution.id,
      pipelineIdentifier: execution.pipelineIdentifier,
      json: JSON.stringify(executionSummary(execution)),
    }));
}
