/** Nodes that wait for inputs: what follows when they come, and when they do not. */
import { asksOf, defaultsOf, type Submitted } from "../inputs.ts";
import { nameOf } from "../instance-name.ts";
import { listed } from "../listed.ts";
import type { Failure, NodeState, PlanNode } from "../model.ts";
import { inputBytesOf, outputsFault } from "../output-bytes.ts";
import { failNode, strategyOf } from "../recovery.ts";
import {
  change,
  definitionOf,
  endAttempt,
  parentOf,
  type Run,
  startTimeout,
  withdraw,
  withoutWait,
  type Work,
} from "../run.ts";
import { timeoutOf } from "../timeouts.ts";

/** A value for each input; undefined for another set of keys, and for values that there is no room for. */
export function inputsSubmitted(run: Run, node: NodeState, values: Submitted): readonly Work[] | undefined {
  const keys = (asksOf(definitionOf(run, node))?.inputs ?? []).map(({ key }) => key);
  if (keys.length !== Object.keys(values).length || !keys.every((key) => Object.hasOwn(values, key))) return undefined;
  // Who submits them is told: the node waits on, for smaller ones or for others that make room.
  if (countInputs(run, node, values)) return undefined;
  takeInputs(run, node, values);
  return [{ kind: "begin", node: node.id }];
}

/** They are stored with the node and read with it, as outputs are: counts them, or says why there is no room for them. */
function countInputs(run: Run, node: NodeState, values: Submitted): Failure | undefined {
  const bytes = inputBytesOf(values);
  const fault = outputsFault(run, `'${nameOf(definitionOf(run, node), node)}'`, bytes);
  if (!fault) run.outputBytes += bytes;
  return fault;
}

/** The node with its values, which has still to begin. */
function takeInputs(run: Run, node: NodeState, values: Submitted): NodeState {
  const received = withdraw(run, node, ["input"]);
  return change(run, received.id, { status: "running", reason: null, inputs: values });
}

/** The timeout of the node has passed before anything was submitted. */
export function inputsExpired(run: Run, node: NodeState): readonly Work[] {
  const definition = definitionOf(run, node);
  const timeless = withoutWait(run, node, "timeout");
  const timeoutMs = timeoutOf(node, definition) ?? 0;
  const failure = inputTimeout(definition, node, timeoutMs);
  const asks = asksOf(definition);
  const isStopping = parentOf(run, node)?.stopping != null;
  const proceeds = asks && !isStopping && strategyOf(run, timeless, failure)?.type === "ProceedWithDefaultValues";
  const values = proceeds ? defaultsOf(asks) : undefined;
  if (!values) return expired(run, timeless, failure);
  if (!hasMissing(values)) {
    const fault = countInputs(run, timeless, values);
    if (fault) return expired(run, timeless, fault);
    // It has the time anew for its own work.
    startTimeout(run, takeInputs(run, timeless, values), timeoutMs);
    return [{ kind: "begin", node: node.id }];
  }
  const keys = listed(values.missing);
  const message = `${failure.message}, and ProceedWithDefaultValues finds no default for ${keys}`;
  return expired(run, timeless, { ...failure, message });
}

const hasMissing = (values: ReturnType<typeof defaultsOf>): values is { readonly missing: readonly string[] } =>
  Array.isArray(values["missing"]);

const inputTimeout = (definition: PlanNode, node: NodeState, timeoutMs: number): Failure => ({
  message: `The inputs of '${nameOf(definition, node)}' were not submitted within its timeout of ${timeoutMs / 1000} s`,
  types: ["InputTimeoutError"],
});

function expired(run: Run, node: NodeState, failure: Failure): readonly Work[] {
  return failNode(run, endAttempt(run, node, "expired", { failure }), { status: "expired", failure });
}
