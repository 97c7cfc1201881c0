import { isFinalStatus } from "../execution-status.ts";
import type { ExecutionStore, RunNode } from "../execution-store.ts";

const STAGES: ReadonlySet<string> = new Set(["Deployment", "CUSTOM_STAGE", "APPROVAL_STAGE", "PIPELINE_STAGE"]);
const CONTAINERS: ReadonlySet<string> = new Set([
  "PIPELINE_SECTION",
  "NG_SECTION",
  "FORK",
  "MATRIX",
  "LOOP",
  "STEP_GROUP",
]);

export const isStage = ({ stepType }: RunNode): boolean => STAGES.has(stepType);
export const isStep = (node: RunNode): boolean => !isStage(node) && !CONTAINERS.has(node.stepType);
export const isFork = ({ stepType }: RunNode): boolean => stepType === "FORK";
/** Its children run side by side, as far as `maxConcurrency` lets them. */
export const isRepeat = ({ stepType }: RunNode): boolean => stepType === "MATRIX" || stepType === "LOOP";

/** A part that was not needed, such as the rollback of a stage that succeeded, is not shown. */
export function isShown(node: RunNode): boolean {
  if (node.stepType !== "NG_SECTION" || node.identifier !== "rollbackSteps") return true;
  return node.status !== "Skipped" && node.status !== "NotStarted";
}

/** The children that are shown. */
export const shownChildren = (store: ExecutionStore, id: string): readonly string[] =>
  store.children(id).filter((child) => {
    const node = store.node(child);
    return node !== undefined && isShown(node);
  });

const KINDS: ReadonlyMap<string, string> = new Map([
  ["PIPELINE_SECTION", "Pipeline"],
  ["Deployment", "Deployment stage"],
  ["CUSTOM_STAGE", "Custom stage"],
  ["APPROVAL_STAGE", "Approval stage"],
  ["PIPELINE_STAGE", "Pipeline stage"],
  ["NG_SECTION", "Section"],
  ["FORK", "Parallel"],
  ["MATRIX", "Matrix"],
  ["LOOP", "Loop"],
  ["STEP_GROUP", "Step group"],
]);

/** What the node is, for readers: Step group, ShellScript step. */
export const kindOf = ({ stepType }: RunNode): string => KINDS.get(stepType) ?? `${stepType} step`;

export const isEnded = ({ status }: RunNode): boolean => isFinalStatus(status);
