/** Steps that wait for approval: listed, approved and rejected. */
import type { Actor } from "../core/actor.ts";
import { actOnApproval, type ActDeps } from "./act.ts";
import type { Approval } from "./approval.ts";
import type { ApprovalQueries } from "./graphql.ts";
import { groupsOf } from "./groups.ts";
import { listApprovals } from "./list.ts";
import { approvalRoutes } from "./rest.ts";
import type { ShownApproval } from "./wire.ts";

export { addApprovalTypes } from "./graphql.ts";
export { createApprovalService } from "./service.ts";

type Deps = ActDeps & Pick<ApprovalQueries, "getNodeNames">;

export function createApprovals(deps: Deps) {
  const act = actOnApproval(deps);
  const list = listApprovals(deps);
  const show = async (actor: Actor, approvals: readonly Approval[]): Promise<readonly ShownApproval[]> => {
    const groups = await groupsOf(deps.db, actor.accountId, approvals);
    return approvals.map((approval) => ({ approval, groups: groups.get(approval.id) ?? [] }));
  };
  return { act, list, getNodeNames: deps.getNodeNames, routes: approvalRoutes({ act, list, show }) };
}
