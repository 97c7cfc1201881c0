import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import type { GetListed } from "../executions/index.ts";
import type { Db } from "../platform/db/db.ts";
import { APPROVAL_TYPE, type Approval } from "./approval.ts";
import { listApprovalRows } from "./store/approvals.ts";

export type ListDeps = { readonly db: Db; readonly getExecution: GetListed };

type Scope = NonNullable<Parameters<GetListed>[2]>;

export type ListFilter = {
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly nodeId?: string | undefined;
};

/** The approvals of an execution, the oldest first. Throws `execution.not_found`. */
export const listApprovals =
  ({ db, getExecution }: ListDeps) =>
  async (
    actor: Actor,
    { executionId, scope }: { readonly executionId: string; readonly scope: Scope },
    { status, type, nodeId }: ListFilter = {},
  ): Promise<readonly Approval[]> => {
    const execution = await getExecution(actor, executionId, scope);
    const node = nodeId === undefined ? undefined : fromWire(nodeId);
    if ((nodeId !== undefined && !node) || (type !== undefined && type !== APPROVAL_TYPE)) return [];
    return listApprovalRows(db, actor.accountId, execution.id, { status, nodeId: node });
  };

export type ListApprovals = ReturnType<typeof listApprovals>;
