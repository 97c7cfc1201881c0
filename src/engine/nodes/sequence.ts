import type { Failure, NodeId, PlanNode } from "../model.ts";
import { close, failureOf, open, stateOf, statusOf, type Run, type Work } from "../run.ts";
import { letsPass } from "../status.ts";

type Sequence = PlanNode & { readonly kind: "pipeline" | "group" };

/** A pipeline runs its stages, and a group its steps, one after the other. */
export function startSequence(run: Run, node: Sequence): readonly Work[] {
  open(run, node.id);
  return next(run, node);
}

/** The next child starts; a child that did not pass ends the sequence, which takes over its status and failure. */
export function childOfSequenceEnded(run: Run, node: Sequence, child: NodeId): readonly Work[] {
  if (run.aborting) return close(run, node, "aborted", { failure: abortedFailure(run, node.id, child) });
  const status = statusOf(run, child);
  return letsPass(status) ? next(run, node, child) : close(run, node, status, { failure: failureOf(run, child) });
}

/** Who aborted it stands at the execution; what had failed before that is not lost. */
function abortedFailure(run: Run, node: NodeId, child: NodeId): Failure | null {
  const [own, below] = [failureOf(run, node), failureOf(run, child)];
  return own && below ? { ...below, message: `${own.message}. Before that: ${below.message}` } : (own ?? below);
}

function next(run: Run, node: Sequence, after?: NodeId): readonly Work[] {
  const from = after === undefined ? 0 : node.children.indexOf(after) + 1;
  const child = node.children.slice(from).find((id) => !stateOf(run, id));
  return child === undefined ? close(run, node, "succeeded") : [{ kind: "start", node: child }];
}
