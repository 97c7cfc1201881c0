/**
 * Barriers that cannot work: steps of the same barrier wait for each other, so that none of them may come after another,
 * and each of them runs once.
 */
import type { Path } from "../../platform/document/position/path.ts";
import type { BarrierSpec } from "../../steps/barrier/schema.ts";
import { isMarker } from "../../steps/schema/marker.ts";
import type { PipelineDocument } from "./schema.ts";
import { ancestorsOf, type DocumentNode, stepsIn, type StepNode, visitPipeline } from "./visit.ts";

type BarrierFault = { readonly path: Path; readonly message: string };

export function barrierFaults(pipeline: PipelineDocument): readonly BarrierFault[] {
  const steps = stepsIn(pipeline).filter(isBarrier);
  if (steps.length === 0) return [];
  const declared = new Set((pipeline.flowControl?.barriers ?? []).map(({ identifier }) => identifier));
  const faults = steps.flatMap((step) => {
    const message = ofStep(step, declared);
    return message === undefined ? [] : [{ path: pathOf(step), message }];
  });
  if (faults.length > 0) return faults;
  const late: BarrierFault[] = [];
  usersIn(visitPipeline(pipeline), late);
  return late;
}

const isBarrier = (node: DocumentNode): node is StepNode => node.kind === "step" && node.document.type === "Barrier";
const referenceOf = ({ document }: StepNode): string => (document.spec as BarrierSpec).barrierRef;
const pathOf = ({ path }: StepNode): Path => [...path, "spec", "barrierRef"];

function ofStep(step: StepNode, declared: ReadonlySet<string>): string | undefined {
  const looped = [step, ...ancestorsOf(step)].find(
    (one) => one.kind !== "pipeline" && one.kind !== "parallel" && one.document.strategy,
  );
  if (looped) return "A Barrier step cannot be repeated: neither it nor what stands around it has a strategy";
  const reference = referenceOf(step);
  if (isMarker(reference) || declared.has(reference)) return undefined;
  const known = declared.size === 0 ? "there are none" : `there are: ${[...declared].join(", ")}`;
  return `flowControl.barriers has no barrier '${reference.slice(0, 128).toWellFormed()}'; ${known}`;
}

/** A step of each barrier at or below the node. Only a parallel list may have several of one. */
function usersIn(node: DocumentNode, faults: BarrierFault[]): ReadonlyMap<string, StepNode> {
  if (isBarrier(node)) return new Map(isMarker(referenceOf(node)) ? [] : [[referenceOf(node), node]]);
  const users = new Map<string, StepNode>();
  for (const child of node.children) {
    for (const [reference, step] of usersIn(child, faults)) {
      const other = users.get(reference);
      if (other && node.kind !== "parallel") {
        const { identifier } = other.document;
        const message = `Step '${identifier}' waits for this one at barrier '${reference}' and comes before it: steps of a barrier stand in different items of a parallel list`;
        faults.push({ path: pathOf(step), message });
      } else users.set(reference, other ?? step);
    }
  }
  return users;
}
