import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { ApiError } from "../../../api/api-error.ts";
import { followStream, type ConnectionState } from "../../../api/event-stream.ts";
import { delegateFollow, delegateList } from "../../../api/operations.gen.ts";
import type { StreamEvent } from "../../../api/parse-events.ts";
import { fetchResource, type Delegate } from "./delegate.ts";

type Delegates = {
  /** Undefined while they are being loaded. */
  readonly delegates: readonly Delegate[] | undefined;
  readonly error: Error | null;
  readonly connection: ConnectionState;
  readonly reload: () => void;
};

/** The delegates of the account as they change. */
export function useDelegates(): Delegates {
  const { data, error, refetch } = useQuery({
    queryKey: [delegateList.id],
    queryFn: () => fetchResource(delegateList, {}),
    // The stream says when to list them again.
    staleTime: Number.POSITIVE_INFINITY,
  });
  // Kept apart from the list, because an answer that was under way may be older than they are.
  const [changes, setChanges] = useState<ReadonlyMap<string, Delegate>>(new Map());
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const [refusal, setRefusal] = useState<ApiError>();
  useEffect(() => {
    const leaving = new AbortController();
    const onEvent = ({ type, data: content }: StreamEvent): void => {
      if (type === "reset") {
        setChanges(new Map());
        void refetch({ cancelRefetch: true });
      } else if (type === "delegates") {
        const { content: changed } = content as { readonly content: readonly Delegate[] };
        setChanges((former) => new Map([...former, ...changed.map((one) => [one.uuid, one] as const)]));
      }
    };
    void followStream(delegateFollow, {}, { onEvent, onState: setConnection, onRefused: setRefusal }, leaving.signal);
    return () => leaving.abort();
  }, [refetch]);
  const delegates = useMemo(() => data && merge(data, changes), [data, changes]);
  return { delegates, error: error ?? refusal ?? null, connection, reload: () => void refetch() };
}

function merge(listed: readonly Delegate[], changes: ReadonlyMap<string, Delegate>): readonly Delegate[] {
  const all = new Map([...listed.map((one) => [one.uuid, one] as const), ...changes]);
  return [...all.values()].filter(({ status }) => status !== "DELETED");
}
