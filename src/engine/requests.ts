import { asksOf } from "./inputs.ts";
import { listed } from "./listed.ts";
import type { InstanceId, NodeState, ServiceRequest } from "./model.ts";
import { attemptOf, change, changeAttempt, definitionOf, nodeAt, parentOf, type Run } from "./run.ts";

/** Asks a service of the platform on behalf of the open attempt of a node. */
export function sendRequest(run: Run, node: NodeState, request: ServiceRequest): NodeState {
  if (request.service === "lock") {
    const holder = holderOf(run, node, request.until);
    run.effects.push({ kind: "sendRequest", node: node.id, service: "lock", key: request.key, holder });
    change(run, holder, { holdsLocks: true });
  } else run.effects.push({ kind: "sendRequest", node: node.id, ...request });
  const asking = nodeAt(run, node.id);
  return changeAttempt(run, asking, { waitsFor: [...attemptOf(asking).waitsFor, request.service] });
}

function holderOf(run: Run, node: NodeState, until: "node" | "stage" | "pipeline"): InstanceId {
  if (until === "node") return node.id;
  for (let at: NodeState | undefined = node; at; at = parentOf(run, at))
    if (definitionOf(run, at).kind === until) return at.id;
  return run.plan.root;
}

/** The open attempt waits for the inputs that its node asks for. */
export function awaitInputs(run: Run, node: NodeState): void {
  const names = listed((asksOf(definitionOf(run, node))?.inputs ?? []).map(({ key }) => key));
  const reason = { kind: "input", message: `Waits for its inputs: ${names}.` } as const;
  const waiting = change(run, node.id, { status: "waiting", reason });
  changeAttempt(run, waiting, { waitsFor: [...attemptOf(waiting).waitsFor, "input"] });
}
