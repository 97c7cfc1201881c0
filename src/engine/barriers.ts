/** Barriers: steps that wait for each other, and fail together when one of them cannot arrive any more. */
import { barrierAt, barrierOf, pipelineAround } from "./arrive.ts";
import { listed } from "./listed.ts";
import { locate } from "./locate.ts";
import type { NodeId, NodeState, Plan, Reason } from "./model.ts";
import { passBarrier } from "./nodes/step.ts";
import { nodeOf, pipelineOf } from "./plan-index.ts";
import { failNode } from "./recovery.ts";
import { change, definitionOf, endAttempt, findNode, nodeAt, type Run, type Work } from "./run.ts";
import { isFinal } from "./status.ts";

const known = new WeakMap<Plan, ReadonlyMap<string, readonly NodeId[]>>();

const keyOf = (pipeline: NodeId, reference: string): string => `${pipeline} ${reference}`;

/** The steps of each barrier, by pipeline and reference. */
function barriersOf(plan: Plan): ReadonlyMap<string, readonly NodeId[]> {
  const found = known.get(plan);
  if (found) return found;
  const all = new Map<string, NodeId[]>();
  for (const node of Object.values(plan.nodes)) {
    const reference = barrierOf(node);
    if (reference === undefined) continue;
    const key = keyOf(pipelineOf(plan, node.id), reference);
    all.set(key, [...(all.get(key) ?? []), node.id]);
  }
  known.set(plan, all);
  return all;
}

/** A barrier of one run of a pipeline. */
type Met = {
  readonly key: string;
  readonly reference: string;
  readonly pipeline: NodeState;
  readonly steps: readonly NodeId[];
};

/** What follows for the steps that wait at barriers, once everything else has been done. */
export function barrierWork(run: Run): readonly Work[] {
  for (const key of Object.keys(run.barriers)) {
    const met = metAt(run, key);
    const work = met ? workAt(run, met) : [];
    if (work.length > 0) return work;
  }
  return [];
}

function metAt(run: Run, key: string): Met | undefined {
  const [first] = barrierAt(run, key).arrived;
  if (!first) return undefined;
  const node = nodeAt(run, first.node);
  const reference = barrierOf(definitionOf(run, node)) ?? "";
  const pipeline = pipelineAround(run, node);
  return { key, reference, pipeline, steps: barriersOf(run.plan).get(keyOf(pipeline.definition, reference)) ?? [] };
}

function workAt(run: Run, { key, reference, pipeline, steps }: Met): readonly Work[] {
  const waiting = waitingAt(run, key);
  if (waiting.length === 0) return [];
  const { arrived, isOpen } = barrierAt(run, key);
  const present = new Set(arrived.map(({ definition }) => definition));
  const find = (id: NodeId) => locate(run.plan, (node) => findNode(run, node), id, pipeline);
  const awaited = isOpen ? [] : steps.filter((id) => !present.has(id) && !hasPassedBefore(find(id)));
  if (awaited.length === 0) {
    run.barriers = { ...run.barriers, [key]: { arrived, isOpen: true } };
    return forEachWaiting(run, waiting, (node) => passBarrier(run, node));
  }
  const missing = awaited.find((id) => !canArrive(find(id)));
  const gone = missing ?? arrived.find(({ node }) => hasFailed(run, node))?.definition;
  if (gone !== undefined) return forEachWaiting(run, waiting, (node) => fail(run, node, { reference, gone }));
  tell(run, waiting, reasonOf(run, reference, awaited));
  return [];
}

type Located = ReturnType<typeof locate>;

function reasonOf({ plan }: Run, reference: string, awaited: readonly NodeId[]): Reason {
  const names = listed(awaited.map((id) => `'${nodeOf(plan, id).name}'`));
  const steps = awaited.length === 1 ? "step" : `${awaited.length} steps`;
  return { kind: "barrier", message: `Waits at barrier '${reference}' for ${steps} ${names}.` };
}

function tell(run: Run, waiting: readonly NodeState[], reason: Reason): void {
  for (const { id, reason: told } of waiting) if (told?.message !== reason.message) change(run, id, { reason });
}

/** An earlier execution has run the step. */
const hasPassedBefore = (found: Located): boolean =>
  found !== undefined && found !== "passedOver" && found.isReused && found.status === "succeeded";

/** What follows for one of them may end the next. */
const forEachWaiting = (
  run: Run,
  waiting: readonly NodeState[],
  act: (node: NodeState) => readonly Work[],
): readonly Work[] =>
  waiting.flatMap(({ id }) => {
    const node = nodeAt(run, id);
    return isAtBarrier(node) ? act(node) : [];
  });

const isAtBarrier = ({ attempts }: NodeState): boolean => attempts.at(-1)?.waitsFor.includes("barrier") ?? false;

function waitingAt(run: Run, key: string): readonly NodeState[] {
  return barrierAt(run, key).arrived.flatMap(({ node: id }) => {
    const node = findNode(run, id);
    return node && isAtBarrier(node) ? [node] : [];
  });
}

/** A step that has left the barrier before it was open. */
function hasFailed(run: Run, id: string): boolean {
  const node = findNode(run, id);
  return node !== undefined && isFinal(node.status);
}

/** Whether a step may still come to its barrier: it has not ended, and neither has what it stands in. */
const canArrive = (found: Located): boolean =>
  found === undefined || (found !== "passedOver" && !isFinal(found.status));

function fail(
  run: Run,
  node: NodeState,
  { reference, gone }: { readonly reference: string; readonly gone: NodeId },
): readonly Work[] {
  const { name } = nodeOf(run.plan, gone);
  const message = `Barrier '${reference}' cannot be passed: step '${name}' does not arrive at it any more`;
  const failure = { message, types: ["ApplicationError"] } as const;
  return failNode(run, endAttempt(run, node, "failed", { failure }), { status: "failed", failure });
}
