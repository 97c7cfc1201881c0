/** What an execution is compared with. */
import type { Json } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { ListedExecution } from "../execution.ts";
import { LISTED, NAMES } from "./lists.ts";

type Store = { readonly query: Query };

/** Run numbers that are looked through for a success. */
const LOOKED_THROUGH = 1_000;

/** The last execution of the same pipeline before this one that succeeded. */
export async function findPreviousSuccess(
  db: Store,
  accountId: Uuid,
  { pipelineId, runSequence }: Pick<ListedExecution, "pipelineId" | "runSequence">,
): Promise<ListedExecution | undefined> {
  const rows = await db.query<ListedExecution>(
    `select ${LISTED} from executions e ${NAMES}
      where e.account_id = $1 and e.pipeline_id = $2 and e.run_sequence < $3 and e.run_sequence >= $3 - ${LOOKED_THROUGH}
        and e.status in ('succeeded', 'ignored')
      order by e.run_sequence desc limit 1`,
    [accountId, pipelineId, runSequence],
  );
  return rows[0];
}

export type GivenToExecution = {
  readonly id: Uuid;
  readonly inputYaml: string | null;
  /** Of the trigger. */
  readonly payload: Json;
};

/** What executions were given. Reads their plans, which are large: ask for few. */
export const findGiven = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<GivenToExecution[]> =>
  db.query<GivenToExecution>(
    `select id, input_yaml as "inputYaml", plan #> '{context,trigger,payload}' as payload from executions
      where account_id = $1 and id = any($2::uuid[])`,
    [accountId, ids],
  );
