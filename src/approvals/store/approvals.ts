import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Approval, ApprovalStatus } from "../approval.ts";

/** The columns of the table with this alias. */
export const APPROVAL_COLUMNS = (alias: string): string =>
  `${alias}.id, ${alias}.execution_id as "executionId", ${alias}.node_id as "nodeId", ${alias}.status, ${alias}.request,
   ${alias}.activities, ${alias}.actors, ${alias}.error, ${alias}.created_at as "createdAt", ${alias}.updated_at as "updatedAt"`;

const APPROVAL = APPROVAL_COLUMNS("approval_instances");

type NodeKey = { readonly executionId: Uuid; readonly nodeId: Uuid };

/** Changes nothing where the node waits already: a step sends its request again after each approval but the last. */
export async function insertApproval(
  db: Store,
  accountId: Uuid,
  {
    executionId,
    nodeId,
    id,
    request,
    at,
  }: NodeKey & { readonly id: Uuid; readonly request: unknown; readonly at: number },
): Promise<void> {
  await db.query(
    `insert into approval_instances (account_id, id, execution_id, node_id, status, request, activities, actors,
                                     created_at, updated_at)
     values ($1, $2, $3, $4, 'WAITING', $5, '[]', '{}', $6, $6)
     on conflict (account_id, execution_id, node_id) where status = 'WAITING' do nothing`,
    [accountId, id, executionId, nodeId, JSON.stringify(request), at],
  );
}

type End = {
  readonly status: ApprovalStatus;
  readonly error: string | null;
  /** Null keeps what is stored. */
  readonly activities: unknown;
  readonly at: number;
};

/** Ends what waits of an execution, or of one node. */
export async function endWaiting(
  db: Store,
  accountId: Uuid,
  { executionId, nodeId }: { readonly executionId: Uuid; readonly nodeId: Uuid | null },
  { status, error, activities, at }: End,
): Promise<void> {
  await db.query(
    `update approval_instances set status = $4, error = $5, activities = coalesce($6::json, activities), updated_at = $7
      where account_id = $1 and execution_id = $2 and ($3::uuid is null or node_id = $3) and status = 'WAITING'`,
    [accountId, executionId, nodeId, status, error, activities === null ? null : JSON.stringify(activities), at],
  );
}

export async function updateApprovalRow(db: Store, accountId: Uuid, approval: Approval): Promise<void> {
  await db.query(
    `update approval_instances set status = $3, activities = $4, actors = $5::uuid[], updated_at = $6, error = $7
      where account_id = $1 and id = $2`,
    [
      accountId,
      approval.id,
      approval.status,
      JSON.stringify(approval.activities),
      approval.actors,
      approval.updatedAt,
      approval.error,
    ],
  );
}

export async function findApproval(db: Store, accountId: Uuid, id: Uuid): Promise<Approval | undefined> {
  const rows = await db.query<Approval>(
    `select ${APPROVAL} from approval_instances where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0];
}

export type ApprovalFilter = { readonly status?: string | undefined; readonly nodeId?: Uuid | undefined };

/** The oldest first. */
export const listApprovalRows = (
  db: Store,
  accountId: Uuid,
  executionId: Uuid,
  { status, nodeId }: ApprovalFilter = {},
): Promise<Approval[]> =>
  db.query<Approval>(
    `select ${APPROVAL} from approval_instances
      where account_id = $1 and execution_id = $2 and ($3::text is null or status = $3) and ($4::uuid is null or node_id = $4)
      order by id`,
    [accountId, executionId, status ?? null, nodeId ?? null],
  );
