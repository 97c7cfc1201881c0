import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { followStream, type ConnectionState } from "../../../api/event-stream.ts";
import { executionFollowProject, executionList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import type { Summary } from "../../../components/execution-store.ts";
import { isListed, requestOf } from "./executions-request.ts";
import type { ExecutionsSearch } from "./executions-search.ts";
import { showWaiting, updateRows, type LiveRows } from "./live-rows.ts";

type Page = DataOf<typeof executionList>;
/** What has changed since the page `base` was loaded. */
type Live = { readonly base: Page | undefined; readonly rows: LiveRows };
const rowsOf = (live: Live | undefined, base: Page | undefined): LiveRows =>
  live !== undefined && live.base === base ? live.rows : { shown: base?.content ?? [], waiting: [] };
/** Filters that only the API can apply ask it again at most this often. */
const REFETCH_MS = 2_000;

/** One page of the list. The first one is live; older ones take changes of the rows that they show. */
export function useLiveExecutions(scope: Required<Scope>, search: ExecutionsSearch) {
  const { orgIdentifier, projectIdentifier } = scope;
  // The key of the query must not change while the page is shown, also if the filter is relative to now.
  const request = useMemo(
    () => requestOf({ orgIdentifier, projectIdentifier }, search, Date.now()),
    [orgIdentifier, projectIdentifier, search],
  );
  const list = useQuery({ ...dataQuery(executionList, request), placeholderData: (former) => former });
  const [live, setLive] = useState<Live>();
  const base = list.data;
  const rows = rowsOf(live, base);
  const isFirst = search.before === undefined;

  const { refetch } = list;
  const refetchSoon = useMemo(() => atMostEvery(REFETCH_MS, () => void refetch()), [refetch]);
  useEffect(() => refetchSoon.stop, [refetchSoon]);

  const onExecutions = useEffectEvent((changed: readonly Summary[]) => {
    const now = Date.now();
    const verdicts = new Map(changed.map((row) => [row, isFirst && isListed(row, search, now)]));
    if ([...verdicts.values()].includes(undefined)) refetchSoon.run();
    // At the top the reader sees what arrives; elsewhere it would move what is being read.
    const isAtTop = globalThis.scrollY === 0;
    setLive((former) => {
      const next = updateRows(rowsOf(former, base), changed, (row) => verdicts.get(row) === true);
      return { base, rows: isAtTop ? showWaiting(next) : next };
    });
  });
  const onReset = useEffectEvent(() => void refetch());
  const connection = useProjectStream(scope, onReset, onExecutions);
  return {
    list,
    request,
    rows: base === undefined ? undefined : rows.shown,
    waiting: rows.waiting.length,
    showNew: () => setLive((former) => ({ base, rows: showWaiting(rowsOf(former, base)) })),
    connection,
  };
}

function useProjectStream(
  { orgIdentifier, projectIdentifier }: Required<Scope>,
  onReset: () => void,
  onExecutions: (changed: readonly Summary[]) => void,
): ConnectionState {
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const onEvent = useEffectEvent((type: string, data: unknown) => {
    if (type === "reset") onReset();
    if (type === "executions") onExecutions((data as { readonly content: readonly Summary[] }).content);
  });
  useEffect(() => {
    const stop = new AbortController();
    const handlers = {
      onEvent: ({ type, data }: { readonly type: string; readonly data: unknown }) => onEvent(type, data),
      onState: setConnection,
    };
    void followStream(executionFollowProject, { query: { orgIdentifier, projectIdentifier } }, handlers, stop.signal);
    return () => stop.abort();
  }, [orgIdentifier, projectIdentifier]);
  return connection;
}

/** Runs at once, or once the pause since the last run is over. */
function atMostEvery(pauseMs: number, run: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  return {
    run: (): void => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          last = Date.now();
          run();
        },
        Math.max(0, last + pauseMs - Date.now()),
      );
    },
    stop: (): void => clearTimeout(timer),
  };
}
