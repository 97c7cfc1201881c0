import { ApiError, messageOf } from "../../../api/api-error.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { Bytes } from "../../../ui/bytes.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { ExactTime, RelativeTime } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import { ResultBadge } from "../shared/trigger-badges.tsx";
import { paramsOf, type TriggerKey } from "../shared/trigger-key.ts";
import styles from "../triggers.module.css";
import type { Delivery, useDeliveries } from "./use-deliveries.ts";

type DeliveriesProps = ReturnType<typeof useDeliveries> & { readonly triggerKey: TriggerKey };

/** The events of a trigger: when they came, and what became of them. */
export function Deliveries({ triggerKey, list, deliveries, connection }: DeliveriesProps) {
  return (
    <Card title="Events" description="Each call of the webhook. The list changes by itself." flush>
      <ConnectionLost state={connection} />
      {list.error === null ? (
        <Table
          label="Events"
          density="compact"
          columns={columnsFor(triggerKey)}
          rows={deliveries}
          rowKey={({ eventId }) => eventId}
          empty={
            <EmptyState icon="bolt" title="No events yet">
              Call the webhook, and the event appears here with its result.
            </EmptyState>
          }
        />
      ) : (
        <ErrorState
          title="The events could not be loaded"
          message={messageOf(list.error)}
          correlationId={list.error instanceof ApiError ? list.error.correlationId : undefined}
          onRetry={() => void list.refetch()}
        />
      )}
      {list.hasNextPage && (
        <div className={styles.older}>
          <Button size="small" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load older events
          </Button>
        </div>
      )}
    </Card>
  );
}

function columnsFor(key: TriggerKey): readonly Column<Delivery>[] {
  return [
    {
      key: "received",
      header: "Received",
      isTitle: true,
      width: "15rem",
      cell: ({ eventId, eventCreatedAt }) => (
        <Link
          look="quiet"
          to="/projects/$org/$project/triggers/$pipeline/$trigger"
          params={paramsOf(key)}
          search={{ event: eventId }}
        >
          <ExactTime at={eventCreatedAt} />
        </Link>
      ),
    },
    { key: "result", header: "Result", width: "10rem", cell: ({ status }) => <ResultBadge status={status} /> },
    {
      key: "reason",
      header: "Reason",
      cell: (row) => (
        <span className={styles.reason}>
          {row.replayOf !== null && "Replayed. "}
          {visibleText(row.message)}
        </span>
      ),
    },
    {
      key: "size",
      header: "Body",
      width: "5rem",
      align: "end",
      wideOnly: true,
      cell: (row) => <Bytes bytes={row.payloadBytes} />,
    },
    {
      key: "age",
      header: "Age",
      width: "7rem",
      align: "end",
      wideOnly: true,
      cell: (row) => <RelativeTime at={row.eventCreatedAt} />,
    },
  ];
}
