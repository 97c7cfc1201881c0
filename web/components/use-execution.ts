import { createContext, useCallback, useContext, useEffect, useState, useSyncExternalStore } from "react";
import type { ApiError } from "../api/api-error.ts";
import { followStream, type ConnectionState } from "../api/event-stream.ts";
import { executionFollow } from "../api/operations.gen.ts";
import type { Scope } from "../api/permissions.ts";
import {
  createExecutionStore,
  type ExecutionStore,
  type RunNode,
  type Structure,
  type Summary,
} from "./execution-store.ts";

const HIDDEN_MS = 1_000;

/** Pages in the background have no frames. */
function inNextFrame(flush: () => void): void {
  if (document.hidden) setTimeout(flush, HIDDEN_MS);
  else requestAnimationFrame(flush);
}

export type Following = {
  readonly store: ExecutionStore;
  readonly connection: ConnectionState;
  /** The refusal that ended it, such as that of a deleted execution. */
  readonly refused: ApiError | undefined;
};

/** Follows the execution while the component is shown. */
export function useFollowedExecution(scope: Required<Scope>, planExecutionId: string): Following {
  const [store] = useState(() => createExecutionStore(inNextFrame));
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const [refused, setRefused] = useState<ApiError>();
  const { orgIdentifier, projectIdentifier } = scope;
  useEffect(() => {
    const stop = new AbortController();
    const request = { path: { planExecutionId }, query: { orgIdentifier, projectIdentifier } };
    const handlers = { onEvent: store.receive, onState: setConnection, onRefused: setRefused };
    void followStream(executionFollow, request, handlers, stop.signal);
    return () => stop.abort();
  }, [store, orgIdentifier, projectIdentifier, planExecutionId]);
  return { store, connection, refused };
}

const Context = createContext<ExecutionStore | undefined>(undefined);
export const ExecutionProvider = Context;

export function useStore(): ExecutionStore {
  const store = useContext(Context);
  if (store === undefined) throw new Error("There is no execution around this component.");
  return store;
}

/** Renders again when this node changes, and only then. */
export function useNode(id: string): RunNode | undefined {
  const store = useStore();
  const subscribe = useCallback((listener: () => void) => store.subscribeNode(id, listener), [store, id]);
  return useSyncExternalStore(subscribe, () => store.node(id));
}

export function useLogBytes(id: string): number {
  const store = useStore();
  const subscribe = useCallback((listener: () => void) => store.subscribeNode(id, listener), [store, id]);
  return useSyncExternalStore(subscribe, () => store.logBytes(id));
}

export function useStructure(): Structure {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, store.structure);
}

export function useSummary(): Summary | undefined {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, store.summary);
}
