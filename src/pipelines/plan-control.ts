/** `when`, `strategy`, `failureStrategies` and `timeout` of a document as the engine has them. */
import {
  type Condition,
  type FailureAction,
  type FailureStrategy,
  type LoopNode,
  parseDuration,
  parseInterval,
} from "../engine/index.ts";
import type { FailureActionDocument, FailureStrategyDocument } from "./document/failure-strategies.ts";
import { axesOf, type LoopValues, type StrategyDocument } from "./document/looping.ts";

type When = {
  readonly condition?: string | null | undefined;
} & ({ readonly stageStatus: Condition["status"] } | { readonly pipelineStatus: Condition["status"] });

/** What stages, step groups and steps have in common. */
export type Controlled = {
  readonly identifier: string;
  readonly timeout?: string | null | undefined;
  readonly when?: When | null | undefined;
  readonly strategy?: StrategyDocument | null | undefined;
  readonly failureStrategies?: readonly FailureStrategyDocument[] | null | undefined;
};

/** The fields of a plan's node that `when` and `failureStrategies` make. */
export const controlOf = ({ when, failureStrategies }: Controlled) => ({
  ...(when && { when: conditionOf(when) }),
  ...(failureStrategies && { failureStrategies: failureStrategies.map(failureStrategyOf) }),
});

const conditionOf = (when: When): Condition => ({
  status: "stageStatus" in when ? when.stageStatus : when.pipelineStatus,
  ...(when.condition ? { expression: when.condition } : {}),
});

const failureStrategyOf = ({ onFailure }: FailureStrategyDocument): FailureStrategy => ({
  errors: onFailure.errors,
  action: actionOf(onFailure.action),
});

function actionOf(action: FailureActionDocument): FailureAction {
  switch (action.type) {
    case "Retry":
    case "RetryStepGroup": {
      const { retryCount, retryIntervals, onRetryFailure } = action.spec;
      return {
        type: action.type,
        count: Number(retryCount),
        intervals: (retryIntervals ?? []).map(intervalOf),
        fallback: onRetryFailure ? actionOf(onRetryFailure.action) : { type: "MarkAsFailure" },
      };
    }
    case "ManualIntervention": {
      const { timeout, onTimeout } = action.spec;
      return { type: action.type, timeoutMs: intervalOf(timeout), fallback: actionOf(onTimeout.action) };
    }
    case "Abort":
    case "Ignore":
    case "MarkAsFailure":
    case "MarkAsSuccess":
    case "PipelineRollback":
    case "ProceedWithDefaultValues":
    case "StageRollback":
    case "StepGroupRollback":
      return { type: action.type };
  }
}

function intervalOf(text: string): number {
  const ms = parseInterval(text);
  if (ms === undefined) throw new Error(`a time was not checked: ${text}`);
  return ms;
}

type Timeout = { readonly timeoutMs?: number; readonly timeout?: string };

/** Empty where the node says nothing. An expression is evaluated when the node starts. */
export function timeoutOf({ identifier, timeout }: Controlled): Timeout {
  if (!timeout) return {};
  if (timeout.includes("<+")) return { timeout };
  const timeoutMs = parseDuration(timeout);
  if (timeoutMs === undefined) throw new Error(`the timeout of ${identifier} was not checked: ${timeout}`);
  return { timeoutMs };
}

type Loop = Pick<LoopNode, "strategy" | "maxConcurrency" | "onFailure" | "when">;

/** What the loop around a node is; undefined for a node that runs once. The status of its condition is the loop's, too. */
export function loopOf({ strategy, when }: Controlled): Loop | undefined {
  if (!strategy) return undefined;
  const maxConcurrency = strategy.matrix?.maxConcurrency ?? strategy.repeat?.maxConcurrency;
  return {
    strategy: loopStrategyOf(strategy),
    ...(maxConcurrency == null ? {} : { maxConcurrency: Number(maxConcurrency) }),
    onFailure: strategy.onFailure ?? "RunAll",
    ...(when && { when: { status: conditionOf(when).status } }),
  };
}

function loopStrategyOf({ matrix, repeat, parallelism }: StrategyDocument): LoopNode["strategy"] {
  const nodeName = matrix?.nodeName ?? repeat?.nodeName;
  const named = nodeName == null ? {} : { nodeName };
  if (matrix) {
    const axes = axesOf(matrix).map(([name, values]) => ({ name, values }));
    return { type: "matrix", axes, exclude: matrix.exclude ?? [], ...named };
  }
  if (repeat?.items === undefined)
    return { type: "times", times: timesOf(repeat?.times ?? parallelism ?? 1), ...named };
  const items: LoopValues = repeat.items;
  const size = repeat.partitionSize;
  return { type: "items", items, ...(size == null ? {} : { partitionSize: Number(size) }), ...named };
}

/** An expression, or a number that an input gave as text. */
const timesOf = (times: number | string): number | string =>
  typeof times === "string" && times.includes("<+") ? times : Number(times);
