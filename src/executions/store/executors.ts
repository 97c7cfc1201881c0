import type { Uuid } from "../../core/ids.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Store } from "../../platform/db/db.ts";

type Row = { readonly startedBy: Uuid | null; readonly principals: readonly Principal[] | null };

/** The user or service account that started an execution, or the trigger that did and its owner. */
export async function findExecutors(db: Store, accountId: Uuid, id: Uuid): Promise<readonly Uuid[]> {
  const rows = await db.query<Row>(
    `select started_by as "startedBy", principals from executions where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows.flatMap(({ startedBy, principals }) => {
    const first = principals?.[0]?.author?.id;
    return [...(startedBy ? [startedBy] : []), ...(first ? [first] : [])];
  });
}
