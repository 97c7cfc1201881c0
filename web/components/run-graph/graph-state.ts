import { createContext, useContext, useState } from "react";
import { isFinalStatus } from "../execution-status.ts";
import type { ExecutionStore, RunNode } from "../execution-store.ts";
import { useStore, useStructure } from "../use-execution.ts";
import { isStep, shownChildren } from "./node-kind.ts";

export type GraphState = {
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
  /** The nodes around the selected one: they are open. */
  readonly around: ReadonlySet<string>;
  /** Whether the graph has so many steps that finished parts begin closed. */
  readonly isLarge: boolean;
};

const Context = createContext<GraphState | undefined>(undefined);
export const GraphProvider = Context;

export function useGraph(): GraphState {
  const state = useContext(Context);
  if (state === undefined) throw new Error("There is no graph around this component.");
  return state;
}

const LARGE_STEPS = 60;
/** A group of more parts begins closed, and shows each as its status only. */
const LARGE_GROUP = 8;

export const isLargeGraph = (store: ExecutionStore, rootId: string): boolean => countSteps(store, rootId) > LARGE_STEPS;

export function countSteps(store: ExecutionStore, id: string): number {
  const node = store.node(id);
  const own = node !== undefined && isStep(node) ? 1 : 0;
  return shownChildren(store, id).reduce((sum, child) => sum + countSteps(store, child), own);
}

export function ancestorsOf(store: ExecutionStore, id: string | undefined): ReadonlySet<string> {
  const all = new Set<string>();
  for (let one = id; one !== undefined && !all.has(one); one = store.parent(one)) all.add(one);
  return all;
}

/** The children that are shown; renders again when the graph changes its shape. */
export function useShownChildren(id: string): readonly string[] {
  const store = useStore();
  useStructure();
  return shownChildren(store, id);
}

/** Whether a stage or group is open. What has opened itself stays open, so that the graph does not jump. */
export function useOpen(node: RunNode, isStage: boolean): readonly [isOpen: boolean, toggle: () => void] {
  const store = useStore();
  const { isLarge, around } = useGraph();
  const [chosen, setChosen] = useState<boolean>();
  const [hasOpened, setHasOpened] = useState(false);
  const isEventful = isStage
    ? !isLarge || isOngoing(node) || isBad(node)
    : shownChildren(store, node.uuid).length <= LARGE_GROUP && (!isLarge || isOngoing(node) || isBad(node));
  const isDue = isEventful || around.has(node.uuid);
  if (isDue && !hasOpened) setHasOpened(true);
  const isOpen = chosen ?? (isDue || hasOpened);
  return [isOpen, () => setChosen(!isOpen)];
}

const BAD: ReadonlySet<string> = new Set(["Failed", "Errored", "Expired", "ApprovalRejected", "Aborted"]);
export const isBad = ({ status }: RunNode): boolean => BAD.has(status);
const isOngoing = ({ status }: RunNode): boolean => !isFinalStatus(status) && status !== "NotStarted";
