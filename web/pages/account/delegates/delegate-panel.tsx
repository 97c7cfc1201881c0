import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import {
  delegateApprove,
  delegateDelete,
  delegateListTasks,
  delegateTagsReplace,
} from "../../../api/operations.gen.ts";
import type { May } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { Duration, ExactTime } from "../../../ui/time.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { fetchResource, type Delegate } from "./delegate.ts";
import { DelegateBadge, LastSeen } from "./delegate-list.tsx";
import styles from "./delegate-panel.module.css";
import { EditTags } from "./edit-tags.tsx";

type DelegatePanelProps = { readonly delegate: Delegate; readonly may: May; readonly onClose: () => void };

/** What one delegate is and runs, and what can be done with it. */
export function DelegatePanel({ delegate, may, onClose }: DelegatePanelProps) {
  const [open, setOpen] = useState<"none" | "tags" | "reject" | "delete">("none");
  const show = useToast();
  const isWaiting = delegate.status === "WAITING_FOR_APPROVAL";
  const activate = useMutation({
    mutationFn: () =>
      fetchResource(delegateApprove, { path: { delegateId: delegate.uuid }, body: { approval: "ACTIVATE" } }),
    onSuccess: () => show({ tone: "success", message: `Delegate ${delegate.delegateName} was approved.` }),
  });
  const close = (): void => setOpen("none");
  const actions = (
    <>
      {may(delegateDelete) && !isWaiting && (
        <Button variant="ghost" icon="trash" onClick={() => setOpen("delete")}>
          Delete
        </Button>
      )}
      {may(delegateApprove) && isWaiting && (
        <>
          <Button icon="close" onClick={() => setOpen("reject")}>
            Reject
          </Button>
          <Button variant="primary" icon="check" busy={activate.isPending} onClick={() => activate.mutate()}>
            Approve
          </Button>
        </>
      )}
    </>
  );
  return (
    <>
      <Dialog open placement="side" title={<Name>{delegate.delegateName}</Name>} onClose={onClose} actions={actions}>
        <div className={styles.panel}>
          {activate.error !== null && <Notice tone="failed">{messageOf(activate.error)}</Notice>}
          {delegate.unavailableReason !== null && (
            <Notice tone="waiting" title="It takes no tasks">
              {delegate.unavailableReason}
            </Notice>
          )}
          <KeyValues items={factsOf(delegate)} />
          <Section
            title="Tags"
            actions={
              may(delegateTagsReplace) && (
                <Button size="small" icon="edit" onClick={() => setOpen("tags")}>
                  Edit tags
                </Button>
              )
            }
          >
            {delegate.tags.length === 0 ? (
              <p className={styles.none}>None. Steps choose their delegates by tags.</p>
            ) : (
              <TagList tags={delegate.tags} />
            )}
          </Section>
          <RunningTasks delegate={delegate} />
        </div>
      </Dialog>
      {open === "tags" && <EditTags delegate={delegate} onClose={close} />}
      {open === "reject" && <EndDelegate action="reject" delegate={delegate} onClose={close} onEnded={onClose} />}
      {open === "delete" && <EndDelegate action="delete" delegate={delegate} onClose={close} onEnded={onClose} />}
    </>
  );
}

const factsOf = (delegate: Delegate) => [
  { key: "State", value: <DelegateBadge delegate={delegate} /> },
  { key: "Host", value: <Name>{delegate.hostName}</Name> },
  { key: "Version", value: <Name>{delegate.version}</Name> },
  { key: "Slots", value: `${delegate.slotsInUse} of ${delegate.slots} in use` },
  { key: "Last seen", value: <LastSeen delegate={delegate} /> },
  { key: "Registered", value: <ExactTime at={delegate.createdAt} /> },
  { key: "Token", value: <Name>{delegate.tokenName}</Name> },
];

function RunningTasks({ delegate: { uuid, slotsInUse } }: { readonly delegate: Delegate }) {
  // Listed again whenever the stream tells of another number.
  const { data, error } = useQuery({
    queryKey: [delegateListTasks.id, uuid, slotsInUse],
    queryFn: () => fetchResource(delegateListTasks, { path: { delegateId: uuid }, query: { pageSize: 50 } }),
    placeholderData: (former) => former,
  });
  return (
    <Section title="Running tasks">
      {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
      {data === undefined && error === null && <SkeletonLines lines={2} />}
      {data?.content.length === 0 && <p className={styles.none}>None.</p>}
      <ul className={styles.tasks}>
        {data?.content.map(({ taskId, type, startedAt, cancelling, step }) => (
          <li key={taskId} className={styles.task}>
            {step === null ? (
              <span>{type === "STEP" ? "A step of another project" : "Connection test"}</span>
            ) : (
              <Link
                className={styles.link}
                to="/projects/$org/$project/executions/$execution"
                params={{ org: step.orgIdentifier, project: step.projectIdentifier, execution: step.planExecutionId }}
                search={{ node: step.nodeExecutionId }}
              >
                <Name>{step.stepName}</Name>
                <span className={styles.none}>
                  <Name>{step.pipelineName}</Name> #{step.runSequence}
                </span>
              </Link>
            )}
            <span className={styles.none}>
              {cancelling && "being cancelled · "}
              <Duration startedAt={startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

type EndDelegateProps = {
  readonly action: "reject" | "delete";
  readonly delegate: Delegate;
  readonly onClose: () => void;
  readonly onEnded: () => void;
};

function EndDelegate({ action, delegate, onClose, onEnded }: EndDelegateProps) {
  const show = useToast();
  const path = { delegateId: delegate.uuid };
  const end = useMutation({
    mutationFn: (): Promise<unknown> =>
      action === "delete"
        ? fetchResource(delegateDelete, { path })
        : fetchResource(delegateApprove, { path, body: { approval: "REJECT" } }),
    onSuccess: () => {
      const word = action === "delete" ? "deleted" : "rejected";
      show({ tone: "success", message: `Delegate ${delegate.delegateName} was ${word}.` });
      onEnded();
    },
  });
  const verb = action === "delete" ? "Delete" : "Reject";
  return (
    <ConfirmDialog
      open
      title={`${verb} delegate ${delegate.delegateName}?`}
      action={`${verb} delegate`}
      typedName={action === "delete" ? delegate.delegateName : undefined}
      busy={end.isPending}
      error={end.error === null ? undefined : messageOf(end.error)}
      onConfirm={() => end.mutate()}
      onClose={onClose}
    >
      Its connections end, and its work folder on {delegate.hostName} is refused from then on.
      {delegate.slotsInUse > 0 && ` Its ${delegate.slotsInUse} running tasks fail.`} Its token stays valid.
    </ConfirmDialog>
  );
}
