/** Steps that wait for approval: listed, approved and rejected. */
import type { Actor } from "../core/actor.ts";
import { actOnApproval, type ActDeps } from "./act.ts";
import type { Approval } from "./approval.ts";
import type { ApprovalQueries } from "./graphql.ts";
import { groupsOf } from "./groups.ts";
import { listApprovals } from "./list.ts";
import { listPendingApprovals } from "./pending.ts";
import { approvalRoutes } from "./rest.ts";
import type { ShownApproval } from "./wire/approvals.ts";

export { addApprovalTypes } from "./graphql.ts";
export { createApprovalService } from "./service.ts";

type Deps = ActDeps & Pick<ApprovalQueries, "getNodeNames"> & Parameters<typeof listPendingApprovals>[0];

export function createApprovals(deps: Deps) {
  const act = actOnApproval(deps);
  const list = listApprovals(deps);
  const listPending = listPendingApprovals(deps);
  const show = async <T extends Approval>(
    actor: Actor,
    approvals: readonly T[],
  ): Promise<readonly (ShownApproval & { readonly approval: T })[]> => {
    const groups = await groupsOf(deps.db, actor.accountId, approvals);
    return approvals.map((approval) => ({ approval, groups: groups.get(approval.id) ?? [] }));
  };
  const routes = approvalRoutes({ act, list, listPending, show });
  return { act, list, listPending, getNodeNames: deps.getNodeNames, routes };
}
