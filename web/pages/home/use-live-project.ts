import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { followStream, type ConnectionState } from "../../api/event-stream.ts";
import {
  approvalListPending,
  executionFollowProject,
  executionList,
  executionStatistics,
} from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";

/** Many changes within this time are shown at once. */
const GATHER_MS = 500;
const SHOWN_BY_PAGE = [executionList.id, executionStatistics.id, approvalListPending.id];

/** Reads again what the page shows whenever an execution of the project changes. Tells whether it is connected. */
export function useLiveProject({ orgIdentifier, projectIdentifier }: Required<Scope>): ConnectionState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<ConnectionState>("connecting");
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = (): void => {
      timer = undefined;
      for (const id of SHOWN_BY_PAGE) void queryClient.invalidateQueries({ queryKey: [id] });
    };
    void followStream(
      executionFollowProject,
      { query: { orgIdentifier, projectIdentifier } },
      { onEvent: () => void (timer ??= setTimeout(refresh, GATHER_MS)), onState: setState },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [queryClient, orgIdentifier, projectIdentifier]);
  return state;
}
