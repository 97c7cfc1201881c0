import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { followStream, type ConnectionState } from "../../../api/event-stream.ts";
import { executionFollowProject, executionList, pipelineList, pipelineSummary } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";

/** Many executions may change at once; lists are read again at most this often. */
const READ_EVERY_MS = 1_000;
const OPERATIONS = [pipelineList.id, pipelineSummary.id, executionList.id] as const;

/** Reads what shows the project's runs again when one of them has changed. Returns the state of the connection. */
export function useLiveRuns({ orgIdentifier, projectIdentifier }: Required<Scope>): ConnectionState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<ConnectionState>("connecting");
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = (): void => {
      timer = undefined;
      for (const id of OPERATIONS) void queryClient.invalidateQueries({ queryKey: [id] });
    };
    void followStream(
      executionFollowProject,
      { query: { orgIdentifier, projectIdentifier } },
      { onEvent: () => (timer ??= setTimeout(read, READ_EVERY_MS)), onState: setState },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [queryClient, orgIdentifier, projectIdentifier]);
  return state;
}
