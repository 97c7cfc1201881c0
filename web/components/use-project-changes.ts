import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { followStream, type ConnectionState } from "../api/event-stream.ts";
import type { AnyOperation } from "../api/operation.ts";
import { executionFollowProject } from "../api/operations.gen.ts";
import type { Scope } from "../api/permissions.ts";

/** Many executions may change at once; what shows them is read again at most this often. */
const READ_EVERY_MS = 1_000;

/**
 * Reads the operations' answers again whenever an execution of the project has changed. `operations` is the same at each
 * rendering. Without a project it follows nothing. Returns the state of the connection.
 */
export function useProjectChanges(
  { orgIdentifier, projectIdentifier }: Scope,
  operations: readonly AnyOperation[],
): ConnectionState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<ConnectionState>("connecting");
  useEffect(() => {
    if (orgIdentifier === undefined || projectIdentifier === undefined) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = (): void => {
      timer = undefined;
      for (const { id } of operations) void queryClient.invalidateQueries({ queryKey: [id] });
    };
    void followStream(
      executionFollowProject,
      { query: { orgIdentifier, projectIdentifier } },
      { onEvent: () => void (timer ??= setTimeout(read, READ_EVERY_MS)), onState: setState },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [queryClient, orgIdentifier, projectIdentifier, operations]);
  return state;
}
