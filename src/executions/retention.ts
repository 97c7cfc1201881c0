/** Deletes executions, their tasks and their logs once the account's settings say that they are old or many enough. */
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { Uuid } from "../core/ids.ts";
import type { Delegates } from "../delegates/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { SettingValue } from "../settings/index.ts";
import { deleteSupersededDeployments } from "./store/deployments.ts";
import { deleteExecutions } from "./store/empty-scope.ts";
import * as store from "./store/retention.ts";

const DAY_MS = 86_400_000;
/** Executions of one transaction. */
const BATCH = 100;
/** Batches of one kind and account before the others have their turn. */
const BATCHES = 100;

/** Removes what refers to executions that are about to be deleted, in the same transaction. */
export type OnExecutionsDeleted = (tx: Tx, accountId: Uuid, ids: readonly Uuid[]) => Promise<void>;

export type RetentionDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly settingValue: SettingValue;
  readonly delegates: Pick<Delegates, "openRuns" | "forgetEndedRuns">;
  readonly onDeleted: OnExecutionsDeleted;
};

/** Answers whether nothing is left to delete. Running executions, and those with a task that has not ended, are kept. */
export type SweepRetention = () => Promise<boolean>;

export const makeExecutionRetention = (deps: RetentionDeps): SweepRetention => {
  const number = async (accountId: Uuid, setting: Parameters<SettingValue>[1]): Promise<number> =>
    Number(await deps.settingValue(accountId, setting));
  return async () => {
    const now = deps.clock.now();
    let done = true;
    for (const accountId of await store.accountsWithExecutions(deps.db)) {
      const days = await number(accountId, "execution_retention_days");
      const count = await number(accountId, "execution_retention_count");
      const logDays = await number(accountId, "log_retention_days");
      if (days > 0) done = (await deleteOld(deps, accountId, now - days * DAY_MS)) && done;
      if (count > 0) done = (await deleteSurplus(deps, accountId, count)) && done;
      if (logDays > 0) done = (await deleteOldLogs(deps, accountId, now - logDays * DAY_MS)) && done;
    }
    return done;
  };
};

async function deleteOld(deps: RetentionDeps, accountId: Uuid, before: number): Promise<boolean> {
  let after: store.Ended | undefined;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const ended = await store.endedBefore(deps.db, accountId, before, after, BATCH);
    await deleteBatch(
      deps,
      accountId,
      ended.map(({ id }) => id),
      { endedBefore: before },
    );
    if (ended.length < BATCH) return true;
    after = ended.at(-1);
  }
  return false;
}

async function deleteSurplus(deps: RetentionDeps, accountId: Uuid, count: number): Promise<boolean> {
  // What stays, as its task has not ended, must not be found again and again.
  const kept: Uuid[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const ids = await store.beyondNewest(deps.db, accountId, count, kept, BATCH);
    const deleted = new Set(await deleteBatch(deps, accountId, ids, { newestOfPipeline: count }));
    kept.push(...ids.filter((id) => !deleted.has(id)));
    if (ids.length < BATCH) return true;
  }
  return false;
}

/** Answers those that are gone. */
async function deleteBatch(
  deps: RetentionDeps,
  accountId: Uuid,
  ids: readonly Uuid[],
  because: Readonly<Record<string, number>>,
): Promise<readonly Uuid[]> {
  const open = new Set(await deps.delegates.openRuns(accountId, ids));
  const ended = ids.filter((id) => !open.has(id));
  if (ended.length === 0) return [];
  await deleteLogs(deps, accountId, ended);
  return deps.db.transaction(async (tx) => {
    // What another server deletes at this moment is left to it.
    const locked = await store.lockEnded(tx, accountId, ended);
    if (locked.length === 0) return [];
    const gone = await deps.delegates.forgetEndedRuns(tx, accountId, locked);
    await deps.onDeleted(tx, accountId, gone);
    await deleteSupersededDeployments(tx, accountId, gone);
    await deleteExecutions(tx, accountId, gone);
    await record(deps.audit, tx, accountId, "execution.retention", { executions: gone.length, ...because });
    return gone;
  });
}

/** The logs alone; the executions stay, and reading such a log says that it was deleted. */
async function deleteOldLogs(deps: RetentionDeps, accountId: Uuid, before: number): Promise<boolean> {
  let after: store.Ended = { endedAt: await store.logsDeletedUntil(deps.db, accountId), id: store.FIRST_ID };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const ended = await store.endedBefore(deps.db, accountId, before, after, BATCH);
    const ids = ended.map(({ id }) => id);
    if (ids.length > 0) await deleteLogs(deps, accountId, ids, { endedBefore: before });
    const last = ended.at(-1);
    if (last) await store.noteLogsDeleted(deps.db, accountId, last.endedAt);
    if (!last || ended.length < BATCH) return true;
    after = last;
  }
  return false;
}

/** `because` is recorded in the audit trail; left out where the executions are deleted, too. */
async function deleteLogs(
  { db, clock, audit }: RetentionDeps,
  accountId: Uuid,
  ids: readonly Uuid[],
  because?: Readonly<Record<string, number>>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const logs = await store.markLogsDeleted(tx, accountId, ids, clock.now());
    if (logs > 0 && because) await record(audit, tx, accountId, "log.retention", { logs, ...because });
  });
  while ((await store.deleteChunks(db, accountId, ids)) > 0);
}

const record = (
  audit: Audit,
  tx: Tx,
  accountId: Uuid,
  operation: "execution.retention" | "log.retention",
  after: Readonly<Record<string, number>>,
): Promise<void> =>
  audit.record(
    tx,
    { kind: "system", accountId },
    { operation, resourceType: "PIPELINE_EXECUTION", resourceId: "", scope: {}, after },
  );
