import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { fetchData, type DataOf } from "../../../api/client.ts";
import { followStream, type ConnectionState } from "../../../api/event-stream.ts";
import { deliveryFollow, deliveryList, triggerDetails } from "../../../api/operations.gen.ts";
import type { StreamEvent } from "../../../api/parse-events.ts";
import type { TriggerKey } from "../shared/trigger-key.ts";

export type Delivery = DataOf<typeof deliveryList>["content"][number];

const PAGE_SIZE = 50;

/** The events of a trigger as they come, and older ones on demand. */
export function useDeliveries(key: TriggerKey) {
  const queryClient = useQueryClient();
  const [changes, setChanges] = useState<ReadonlyMap<string, Delivery>>(new Map());
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const list = useInfiniteQuery({
    queryKey: [deliveryList.id, key],
    queryFn: ({ pageParam, signal }) =>
      fetchData(
        deliveryList,
        {
          path: key.path,
          query: { ...key.query, size: PAGE_SIZE, ...(pageParam === null ? {} : { pageToken: pageParam }) },
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    // The stream tells what changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const text = JSON.stringify(key);
  useEffect(() => {
    const leaving = new AbortController();
    const followed = JSON.parse(text) as TriggerKey;
    let isFirst = true;
    const onEvent = ({ type, data }: StreamEvent): void => {
      const { content } = data as { readonly content: readonly Delivery[] };
      const fresh = content.map((one) => [one.eventId, one] as const);
      if (type === "snapshot") {
        setChanges(new Map(fresh));
        // Some may have come while the connection was lost that neither the list nor the snapshot has.
        if (!isFirst) void queryClient.invalidateQueries({ queryKey: [deliveryList.id] });
        isFirst = false;
      } else if (type === "deliveries") setChanges((former) => new Map([...former, ...fresh]));
      // The facts of the trigger name its newest event.
      if (!isFirst) void queryClient.invalidateQueries({ queryKey: [triggerDetails.id] });
    };
    void followStream(deliveryFollow, followed, { onEvent, onState: setConnection }, leaving.signal);
    return () => leaving.abort();
  }, [text, queryClient]);
  const deliveries = useMemo(
    () =>
      list.data &&
      mergeDeliveries(
        list.data.pages.flatMap(({ content }) => content),
        changes,
      ),
    [list.data, changes],
  );
  return { list, deliveries, connection };
}

/** The listed ones as the stream has changed them, with those that came since; the newest first. */
export function mergeDeliveries(
  listed: readonly Delivery[],
  changes: ReadonlyMap<string, Delivery>,
): readonly Delivery[] {
  const all = new Map([...listed.map((one) => [one.eventId, one] as const), ...changes]);
  return [...all.values()].toSorted((a, b) => b.eventCreatedAt - a.eventCreatedAt);
}
