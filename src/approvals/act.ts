import { authorizeSomewhere } from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import { actorEmail, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { AnswerableExecution, GetListed, LockToAnswer } from "../executions/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { ApprovalActivity } from "../steps/platform-approval/request.ts";
import { type Approval, type ApprovalStatus, decisionOf } from "./approval.ts";
import { requireApprover } from "./approvers.ts";
import { checkedInputs, type GivenInput } from "./inputs.ts";
import { problem } from "./problems.ts";
import { STUCK } from "./service.ts";
import { findApproval, listApprovalRows, updateApprovalRow } from "./store/approvals.ts";

export type ActDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly getExecution: GetListed;
  readonly lockToAnswer: LockToAnswer;
};

export type Act = {
  readonly action: "APPROVE" | "REJECT";
  readonly comments: string;
  readonly inputs: readonly GivenInput[];
};

const MAX_COMMENTS = 16_384;

type Scope = NonNullable<Parameters<GetListed>[2]>;

/** An approval by its id, or by the callbackId of its step in an execution. */
export type ApprovalKey =
  | { readonly id: string; readonly within?: { readonly executionId: string; readonly applicationId: string } }
  | { readonly executionId: string; readonly callbackId: string; readonly scope: Scope };

/**
 * Approves or rejects. Decided under the lock of the execution, so that of several decisions at once one counts, and the
 * others are told. Throws what requireApprover and checkedInputs throw, `approval.long_comments`, `approval.not_found`, `approval.no_callback`,
 * `approval.several_callbacks`, `approval.not_waiting`, and `execution.not_found`.
 */
export const actOnApproval =
  (deps: ActDeps) =>
  async (actor: Actor, key: ApprovalKey, act: Act): Promise<Approval> => {
    const { length } = act.comments;
    if (length > MAX_COMMENTS) throw problem("approval.long_comments", [String(length), String(MAX_COMMENTS)]);
    const { id, execution } = await found(deps, actor, key);
    const acted = await deps.lockToAnswer({ accountId: actor.accountId, id: execution.id }, async (tx, locked) => {
      const approval = await findApproval(tx, actor.accountId, id);
      if (!approval || !locked) throw problem("approval.not_found", [toWire(id)]);
      const after = await decided(deps, tx, { actor, act, approval, locked });
      await deps.audit.record(tx, actor, {
        operation: act.action === "APPROVE" ? "approval.approve" : "approval.reject",
        resourceType: "PIPELINE",
        resourceId: execution.pipelineIdentifier,
        scope: { orgIdentifier: execution.orgIdentifier, projectIdentifier: execution.projectIdentifier },
        before: auditView(approval),
        after: { ...auditView(after), comments: act.comments },
      });
      return after;
    });
    // The end of an execution that is stuck is committed before its caller is told.
    if (acted.status === "FAILED") throw notWaiting(acted);
    return acted;
  };

export type ActOnApproval = ReturnType<typeof actOnApproval>;

const auditView = ({ id, executionId, status, activities }: Approval) => ({
  approval: toWire(id),
  execution: toWire(executionId),
  status,
  approvals: activities.length,
});

/** Also decides what the caller may see: an approval of another execution does not exist for them. */
async function found({ db, getExecution }: ActDeps, actor: Actor, key: ApprovalKey) {
  authorizeSomewhere(actor, "core_pipeline_view");
  if ("id" in key) {
    const id = fromWire(key.id);
    const approval = id && (await findApproval(db, actor.accountId, id));
    if (!approval) throw problem("approval.not_found", [key.id]);
    try {
      const execution = await getExecution(actor, toWire(approval.executionId));
      requireWithin(key, execution);
      return { id: approval.id, execution };
    } catch (error) {
      if (error instanceof Problem && error.status === 404)
        throw problem("approval.not_found", [key.id], { refusal: error.refusal });
      throw error;
    }
  }
  const { executionId, callbackId, scope } = key;
  const execution = await getExecution(actor, executionId, scope);
  const waiting = await listApprovalRows(db, actor.accountId, execution.id, { status: "WAITING" });
  const [first, second] = waiting.filter(({ request }) => request.callbackId === callbackId);
  if (!first) throw problem("approval.no_callback", [executionId, callbackId]);
  if (second) throw problem("approval.several_callbacks", [executionId, callbackId]);
  return { id: first.id, execution };
}

/** Clients of the first generation also name the execution and its application. */
function requireWithin(
  { id, within }: Extract<ApprovalKey, { id: string }>,
  execution: { readonly id: Uuid; readonly applicationId: Uuid },
): void {
  if (!within) return;
  const isSame =
    within.executionId === toWire(execution.id) && within.applicationId === toWire(execution.applicationId);
  if (!isSame) throw problem("approval.not_found", [id]);
}

type Acting = {
  readonly actor: Actor;
  readonly act: Act;
  readonly approval: Approval;
  readonly locked: AnswerableExecution;
};

const STATUS_OF: Readonly<Record<ReturnType<typeof decisionOf>, ApprovalStatus>> = {
  pending: "WAITING",
  approved: "APPROVED",
  rejected: "REJECTED",
};

async function decided({ clock }: ActDeps, tx: Tx, { actor, act, approval, locked }: Acting): Promise<Approval> {
  const actorId: Uuid = await requireApprover(tx, { actor, approval, executors: locked.executors });
  if (approval.status !== "WAITING") throw notWaiting(approval);
  // A rejection needs no values.
  const inputs = act.action === "APPROVE" ? checkedInputs(approval, act.inputs) : [];
  const at = clock.now();
  const activity: ApprovalActivity = {
    user: { name: actor.kind === "system" ? "" : actor.name, email: actorEmail(actor) ?? "" },
    action: act.action,
    comments: act.comments,
    approverInputs: inputs,
    approvedAt: at,
  };
  const activities = [...approval.activities, activity];
  const decision = decisionOf(approval.request, activities);
  const acted: Approval = {
    ...approval,
    status: STATUS_OF[decision],
    activities,
    actors: [...approval.actors, actorId],
    updatedAt: at,
  };
  await updateApprovalRow(tx, actor.accountId, acted);
  const effect = await locked.answer(approval.nodeId, { decision, activities });
  if (effect === "taken") return acted;
  if (effect === "not waiting") throw notWaiting(approval);
  const failed: Approval = { ...approval, status: "FAILED", error: STUCK, updatedAt: at };
  await updateApprovalRow(tx, actor.accountId, failed);
  return failed;
}

const notWaiting = ({ id, status }: Approval): Error => problem("approval.not_waiting", [toWire(id), status]);
