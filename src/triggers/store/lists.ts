/** Lists of triggers. */
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import { FROM, LIVE, readRow, TRIGGER, type TriggerRow } from "./triggers.ts";
import type { ListedTrigger } from "../trigger.ts";

/** Triggers of an existing pipeline, or of a project. */
export type TriggerFilter = {
  readonly accountId: Uuid;
  readonly of:
    | { readonly pipelineId: Uuid }
    | {
        readonly projectId: Uuid;
        /** The identifiers of the pipelines whose triggers count; null: all of them. */
        readonly pipelines: readonly string[] | null;
      };
  /** The complete identifier. */
  readonly identifier?: string | undefined;
  /** A part of name or identifier, case-insensitive. */
  readonly searchTerm?: string | undefined;
};

const conditionOf = ({ of }: TriggerFilter): string =>
  `t.account_id = $1 and ${LIVE}
   and ($3::text is null or strpos(lower(t.name), lower($3)) > 0 or strpos(lower(t.identifier), lower($3)) > 0)
   and ($4::text is null or t.identifier = $4)
   and ($5::text[] is null or p.identifier = any ($5))
   and ${"pipelineId" in of ? "t.pipeline_id" : "t.project_id"} = $2`;

const valuesOf = ({ accountId, of, searchTerm, identifier }: TriggerFilter): unknown[] => [
  accountId,
  "pipelineId" in of ? of.pipelineId : of.projectId,
  searchTerm ?? null,
  identifier ?? null,
  "pipelineId" in of ? null : of.pipelines,
];

/** As `TRIGGER` tells them. */
const TIMES = { createdAt: '"createdAt"', lastModifiedAt: '"updatedAt"' };

/** Lists triggers by identifier, or in the order of the window. Reads the last deliveries of the page only. */
export async function selectTriggers(
  db: Store,
  filter: TriggerFilter,
  { limit, offset, order }: Window,
): Promise<ListedTrigger[]> {
  const rows = await db.query<TriggerRow & Pick<ListedTrigger, "last">>(
    `${statementPrefix(order)}select ${TRIGGER},
            (select jsonb_build_object('receivedAt', d.received_at, 'status', d.status, 'message', d.message,
                                       'executionId', d.execution_id)
               from webhook_deliveries d where d.account_id = t.account_id and d.trigger_id = t.id
              order by d.id desc limit 1) as last
       ${FROM} where ${conditionOf(filter)}
      order by ${orderBy(order, "identifier", TIMES)} limit $6 offset $7`,
    [...valuesOf(filter), limit, offset],
  );
  return rows.map(({ last, ...row }) => ({ ...readRow(row), last }));
}

/** How many triggers each of these pipelines has; those without any are left out. */
export async function countTriggersOf(
  db: Store,
  accountId: Uuid,
  pipelineIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, number>> {
  if (pipelineIds.length === 0) return new Map();
  const rows = await db.query<{ id: Uuid; count: number }>(
    `select pipeline_id as id, count(*) as count from triggers
      where account_id = $1 and pipeline_id = any ($2::uuid[]) and deleted_at is null group by pipeline_id`,
    [accountId, pipelineIds],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export async function countTriggers(db: Store, filter: TriggerFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total ${FROM} where ${conditionOf(filter)}`,
    valuesOf(filter),
  );
  return rows[0]?.total ?? 0;
}
