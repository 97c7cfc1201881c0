/** Plays events that name nodes by their paths. */
import type { Event, FailureAction, FailureStrategy, FailureType, NodeState, Plan } from "../model.ts";
import { type Execution, give, initial, words } from "./plans.ts";

export type At = (path: string) => NodeState;

/** The state after the events, and the effects of each of them with paths in place of ids. */
export function run(plan: Plan, ...events: readonly (Event | ((at: At) => Event))[]) {
  let execution: Execution = initial(plan);
  const at: At = (path) => {
    const node = [...execution.nodes.values()].find((one) => one.path === path);
    if (!node)
      throw new Error(`${path} is not among ${[...execution.nodes.values()].map((one) => one.path).join(", ")}`);
    return node;
  };
  const effects = events.map((event) => {
    const next = give(plan, execution, typeof event === "function" ? event(at) : event);
    execution = next;
    return words(
      next.effects.map((one) => ("node" in one ? { ...one, node: execution.nodes.get(one.node)?.path ?? "" } : one)),
    );
  });
  return { state: execution.state, nodes: execution.nodes, effects, at };
}

export const on = (error: FailureType | "AllErrors", action: FailureAction): FailureStrategy => ({
  errors: [error],
  action,
});

export const retryThen = (fallback: FailureAction): FailureAction => ({
  type: "Retry",
  count: 1,
  intervals: [],
  fallback,
});
