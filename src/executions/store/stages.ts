import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/statements.ts";
import { type ExecutionFilter, whereOf } from "./conditions.ts";

/** A stage as the plan and the state of its run have it. */
export type StageRow = {
  readonly executionId: Uuid;
  /** The id of its node. */
  readonly id: Uuid;
  readonly name: string;
  /** Null for a stage that was not reached; of a damaged state anything. */
  readonly status: string | null;
  /** Name → value, without secrets; of a damaged plan anything. */
  readonly variables: unknown;
};

/**
 * The stages of these executions, in their order. Plans are large, so that only what is shown of them leaves the
 * database. A damaged plan has no stages, and hides none of the others.
 */
export async function listStages(
  db: { readonly query: Query },
  accountId: Uuid,
  filter: ExecutionFilter,
): Promise<StageRow[]> {
  const { where, values } = whereOf(accountId, filter);
  return db.query<StageRow>(
    `${UNPREPARED}select e.id as "executionId", s.id, n.node ->> 'name' as name,
            e.state -> 'nodes' -> s.id ->> 'status' as status,
            e.plan #> array['context', 'pipeline', 'stages', n.node ->> 'identifier', 'variables'] as variables
       from executions e
      cross join lateral (select e.plan -> 'nodes' -> (e.plan ->> 'root') -> 'children' as ids) c
      cross join lateral json_array_elements_text(case json_typeof(c.ids) when 'array' then c.ids else '[]' end)
            with ordinality s (id, nth)
      cross join lateral (select e.plan -> 'nodes' -> s.id as node) n
      where ${where} and n.node ->> 'kind' = 'stage' order by e.id, s.nth`,
    values,
  );
}
