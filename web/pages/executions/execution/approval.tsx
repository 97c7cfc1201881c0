import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { dataQuery, fetchData, request, type AnswerOf } from "../../../api/client.ts";
import { messageOf } from "../../../api/api-error.ts";
import { approvalDecide, approvalListPending, approvalV1List } from "../../../api/operations.gen.ts";
import { lookOf } from "../../../components/execution-status.ts";
import type { RunNode } from "../../../components/execution-store.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { Card } from "../../../ui/card.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { ApprovalForm, type Decision } from "./approval-form.tsx";
import styles from "./execution-page.module.css";
import { useAction } from "./use-action.ts";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

const PENDING = 100;
const REFUSALS = {
  NOT_APPROVER: "You are none of its approvers.",
  OWN_EXECUTION: "You started the execution, so others decide.",
  DISALLOWED: "The approval excludes you.",
  ALREADY_ACTED: "You have decided. It waits for others.",
} as const;

type ApprovalRequest = AnswerOf<typeof approvalV1List>[number];

/** What is asked of whom, what was decided, and the form to decide. */
export function Approval({ node }: { readonly node: RunNode }) {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  const { execution } = route.useParams();
  const parts = { path: { org, project, executionId: execution }, query: { node_execution_id: node.uuid } };
  const approvals = useQuery({
    // Its decisions change with the node.
    queryKey: [approvalV1List.id, parts, node.status],
    queryFn: async ({ signal }) => (await request(approvalV1List, parts, { signal })).answer,
  });
  const { act, isBusy } = useAction();
  if (approvals.error) return <Notice tone="failed">{messageOf(approvals.error)}</Notice>;
  if (approvals.data === undefined) return <SkeletonLines />;
  const approval = approvals.data.at(-1);
  if (approval === undefined) return null;
  const decide = ({ action, comments, approverInputs }: Decision): Promise<boolean> =>
    act({
      run: () =>
        fetchData(approvalDecide, {
          path: { approvalInstanceId: approval.id },
          body: { action, comments, approverInputs },
        }),
      done: action === "APPROVE" ? "Approved." : "Rejected.",
    });
  return (
    <Card title="Approval">
      <div className={styles.block}>
        <p className={styles.message}>{visibleText(approval.details.approvalMessage)}</p>
        <Approvers approval={approval} />
        <Activities approval={approval} />
        {approval.status === "WAITING" && node.status === "ApprovalWaiting" && (
          <Deciding approval={approval} busy={isBusy} onDecide={decide} />
        )}
        {approval.error_message !== null && <Notice tone="failed">{visibleText(approval.error_message)}</Notice>}
      </div>
    </Card>
  );
}

type DecidingProps = {
  readonly approval: ApprovalRequest;
  readonly busy: boolean;
  readonly onDecide: (decision: Decision) => Promise<boolean>;
};

/** The form, or why the user may not decide. */
function Deciding({ approval, busy, onDecide }: DecidingProps) {
  const scope = useProjectScope();
  const pending = useQuery(dataQuery(approvalListPending, { query: { ...scope, size: PENDING } }));
  if (pending.isPending) return <SkeletonLines lines={2} />;
  // Beyond so many others it is not known; the API decides.
  const refusal = pending.data?.content.find(({ id }) => id === approval.id)?.refusal ?? null;
  if (refusal !== null) return <p className={styles.muted}>{REFUSALS[refusal]}</p>;
  return <ApprovalForm inputs={approval.details.approverInputs} busy={busy} onDecide={onDecide} />;
}

function Approvers({ approval }: { readonly approval: ApprovalRequest }) {
  const { approvers, validatedApprovalUserGroups } = approval.details;
  const groups =
    validatedApprovalUserGroups.length > 0 ? validatedApprovalUserGroups.map(({ name }) => name) : approvers.userGroups;
  const names = [...groups, ...approvers.serviceAccounts].map(visibleText).join(", ");
  return (
    <KeyValues
      items={[
        { key: "Approvers", value: names === "" ? null : <span className={styles.value}>{names}</span> },
        {
          key: "Needed",
          value: approvers.minimumCount === 1 ? "1 approval" : `${approvers.minimumCount} approvals`,
        },
        {
          key: "Not by",
          value: approvers.disallowPipelineExecutor ? "the person who started the execution" : null,
        },
        { key: "Until", value: approval.status === "WAITING" ? <RelativeTime at={approval.deadline} /> : null },
      ]}
    />
  );
}

function Activities({ approval }: { readonly approval: ApprovalRequest }) {
  const { approvalActivities } = approval.details;
  if (approvalActivities.length === 0) return null;
  return (
    <ul className={styles.list} aria-label="Decisions">
      {approvalActivities.map(({ user, action, comments, approverInputs, approvedAt }) => (
        <li key={`${approvedAt} ${user.email}`} className={styles.attempt}>
          <div className={styles.attemptHead}>
            <strong>{action === "APPROVE" ? "Approved" : lookOf("ApprovalRejected").label}</strong>
            <span>
              by <Name>{user.name === "" ? user.email : user.name}</Name>
            </span>
            <RelativeTime at={approvedAt} />
          </div>
          {comments !== "" && <p className={styles.message}>{visibleText(comments)}</p>}
          <KeyValues
            items={approverInputs.map(({ name, value }) => ({
              key: visibleText(name),
              value: <span className={styles.value}>{visibleText(value)}</span>,
            }))}
          />
        </li>
      ))}
    </ul>
  );
}
