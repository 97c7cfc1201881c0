import type { Effect, TimerPurpose } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

type TimerKey = { readonly node: string; readonly purpose: TimerPurpose };
export type Timer = TimerKey & { readonly at: number };

export type TimerChanges = { readonly started: readonly Timer[]; readonly stopped: readonly TimerKey[] };

/** What effects come to: of several on one timer the last one. */
export function timersOf(effects: readonly Effect[]): TimerChanges {
  const last = new Map<string, Extract<Effect, { kind: "startTimer" | "stopTimer" }>>();
  for (const effect of effects)
    if (effect.kind === "startTimer" || effect.kind === "stopTimer")
      last.set(`${effect.node} ${effect.purpose}`, effect);
  const changes = [...last.values()];
  return {
    started: changes.filter((one) => one.kind === "startTimer"),
    stopped: changes.filter((one) => one.kind === "stopTimer"),
  };
}

/** The last parameters of a statement with `deleteTimers` and `insertTimers`, in their order. */
export const timerValues = ({ started, stopped }: TimerChanges): readonly unknown[] => [
  stopped.map((timer) => timer.node),
  stopped.map((timer) => `${timer.node} ${timer.purpose}`),
  started.map((timer) => timer.node),
  started.map((timer) => timer.purpose),
  started.map((timer) => timer.at),
];

/**
 * The nodes are compared with an array, not joined with it: a join that is planned without statistics reads all timers of
 * the execution. `from`: the number of the first of the two parameters; `$1` and `$2` are account and execution.
 */
export const deleteTimers = (from: number): string =>
  `delete from execution_timers where account_id = $1 and execution_id = $2 and node_id = any($${from}::uuid[])
      and node_id || ' ' || purpose = any($${from + 1}::text[])`;

/** `from`: the number of the first of the three parameters. */
export const insertTimers = (from: number): string =>
  `insert into execution_timers (account_id, execution_id, node_id, purpose, due_at)
   select $1, $2, s.node_id, s.purpose, s.due_at
     from unnest($${from}::uuid[], $${from + 1}::text[], $${from + 2}::bigint[]) as s (node_id, purpose, due_at)
   on conflict (account_id, execution_id, node_id, purpose) do update set due_at = excluded.due_at`;

export async function startTimers(
  db: Store,
  { accountId, id }: { readonly accountId: Uuid; readonly id: Uuid },
  started: readonly Timer[],
): Promise<void> {
  if (started.length === 0) return;
  await db.query(insertTimers(3), [accountId, id, ...timerValues({ started, stopped: [] }).slice(2)]);
}

export type DueTimer = {
  readonly accountId: Uuid;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly purpose: TimerPurpose;
  readonly at: number;
};

/** Across accounts: the sweep serves them all. Leaves out executions of a later format. */
export const findDueTimers = (db: Store, now: number, format: number): Promise<DueTimer[]> =>
  db.query<DueTimer>(
    `select t.account_id as "accountId", t.execution_id as "executionId", t.node_id as "nodeId", t.purpose, t.due_at as at
       from execution_timers t join executions e on e.account_id = t.account_id and e.id = t.execution_id
      where t.due_at <= $1 and e.format <= $2 order by t.due_at limit 200`,
    [now, format],
  );

/** True for the one replica that took the timer, as it was found: it may have been started anew since. */
export async function takeTimer(db: Store, timer: DueTimer): Promise<boolean> {
  const rows = await db.query(
    `delete from execution_timers
      where account_id = $1 and execution_id = $2 and node_id = $3 and purpose = $4 and due_at = $5 returning node_id`,
    [timer.accountId, timer.executionId, timer.nodeId, timer.purpose, timer.at],
  );
  return rows.length > 0;
}
