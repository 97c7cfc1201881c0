import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { deliveryGet, deliveryReplay } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { Bytes } from "../../../ui/bytes.tsx";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Link } from "../../../ui/link.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { ExactTime } from "../../../ui/time.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { ResultBadge } from "../shared/trigger-badges.tsx";
import { paramsOf, type TriggerKey } from "../shared/trigger-key.ts";
import styles from "../triggers.module.css";

type StoredDelivery = DataOf<typeof deliveryGet>;
type DeliveryPanelProps = {
  readonly triggerKey: TriggerKey;
  readonly eventId: string;
  /** As the list shows it: the event is read again when it changes. */
  readonly status: string | null | undefined;
  readonly isEnabled: boolean;
};

const route = getRouteApi("/projects/$org/$project/triggers/$pipeline/$trigger");

/** One event with its headers and the beginning of its body, as text. */
export function DeliveryPanel({ triggerKey, eventId, status, isEnabled }: DeliveryPanelProps) {
  const navigate = route.useNavigate();
  const may = useMay(useProjectScope());
  const show = useToast();
  const parts = { path: { ...triggerKey.path, eventId }, query: triggerKey.query };
  const base = dataQuery(deliveryGet, parts);
  const event = useQuery({ ...base, queryKey: [...base.queryKey, status], placeholderData: (former) => former });
  const replay = useMutation({
    mutationFn: () => fetchData(deliveryReplay, parts),
    onSuccess: ({ eventCorrelationId }) => {
      show({ tone: "success", message: "The event was sent to the trigger again." });
      void navigate({ search: { event: eventCorrelationId } });
    },
  });
  const canReplay = may(deliveryReplay, triggerKey.query.targetIdentifier) && event.data?.canReplay === true;
  return (
    <Dialog
      open
      placement="side"
      title="Event"
      onClose={() => void navigate({ search: {} })}
      actions={
        <>
          <CopyAs
            requests={[
              { label: "Read the event", operation: deliveryGet, ...parts },
              ...(canReplay ? [{ label: "Replay the event", operation: deliveryReplay, ...parts }] : []),
            ]}
          />
          {canReplay && isEnabled && (
            <Button variant="primary" icon="retry" busy={replay.isPending} onClick={() => replay.mutate()}>
              Replay
            </Button>
          )}
        </>
      }
    >
      <div className={styles.panel}>
        {replay.error !== null && (
          <Notice tone="failed" title="The event was not replayed">
            {messageOf(replay.error)}
          </Notice>
        )}
        {event.error !== null && <Notice tone="failed">{messageOf(event.error)}</Notice>}
        {event.data === undefined && event.error === null && <SkeletonLines lines={6} />}
        {event.data !== undefined && <Content event={event.data} triggerKey={triggerKey} isEnabled={isEnabled} />}
      </div>
    </Dialog>
  );
}

type ContentProps = { readonly event: StoredDelivery; readonly triggerKey: TriggerKey; readonly isEnabled: boolean };

function Content({ event, triggerKey, isEnabled }: ContentProps) {
  const params = paramsOf(triggerKey);
  const headers = Object.entries(event.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <KeyValues
        items={[
          { key: "Result", value: <ResultBadge status={event.status} /> },
          { key: "Reason", value: visibleText(event.message) },
          {
            key: "Execution",
            value: event.planExecutionId !== null && (
              <Link
                to="/projects/$org/$project/executions/$execution"
                params={{ ...params, execution: event.planExecutionId }}
              >
                Open the execution
              </Link>
            ),
          },
          { key: "Received", value: <ExactTime at={event.eventCreatedAt} /> },
          { key: "Processed", value: event.processedAt !== null && <ExactTime at={event.processedAt} /> },
          {
            key: "Replay of",
            value: event.replayOf !== null && (
              <Link
                to="/projects/$org/$project/triggers/$pipeline/$trigger"
                params={params}
                search={{ event: event.replayOf }}
              >
                An earlier event
              </Link>
            ),
          },
          { key: "Event", value: <code>{event.eventId}</code> },
          { key: "Body", value: <Bytes bytes={event.payloadBytes} /> },
        ].map((item) => ({ ...item, value: item.value === false ? null : item.value }))}
      />
      {event.canReplay ? (
        <>
          {!isEnabled && <Notice tone="waiting">The trigger is disabled. Enable it to replay its events.</Notice>}
          <Section title="Headers" description="Values that may be secret are masked.">
            <CodeBlock label="Headers" wrap maxHeight="16rem" code={visibleText(headers.join("\n"))} />
          </Section>
          <Section
            title="Body"
            description={event.isPayloadComplete ? undefined : "The first 65,536 characters; the whole body is stored."}
          >
            <CodeBlock label="Body" wrap maxHeight="28rem" code={visibleText(event.payload)} />
          </Section>
        </>
      ) : (
        <Notice>
          Its headers and its body were not stored, because the trigger was disabled. It cannot be replayed.
        </Notice>
      )}
    </>
  );
}
