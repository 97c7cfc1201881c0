/** Expressions that read an output variable of the type Secret. */
import { moduleOf } from "../../steps/table.ts";
import {
  type DocumentNode,
  pipelineOf,
  type PipelineNode,
  stageOf,
  stepsIn,
  ancestorsOf,
  type StepNode,
} from "./visit.ts";

type Path = readonly (string | number)[];

const stepsOf = new WeakMap<PipelineNode, readonly StepNode[]>();

/** Steps that have such outputs. */
function producers(node: DocumentNode): readonly StepNode[] {
  const root = pipelineOf(node);
  const known = stepsOf.get(root);
  if (known) return known;
  const found = stepsIn(root.document).filter((step) => namesOf(step).length > 0);
  stepsOf.set(root, found);
  return found;
}

const namesOf = ({ document: { type, spec } }: StepNode): readonly string[] =>
  moduleOf(type).secretOutputs?.(spec) ?? [];

export const hasSecretOutputs = (node: DocumentNode): boolean => producers(node).length > 0;

/** The beginning of a path that leads to such an output, in a text of this node. */
export function secretOutputIn(node: DocumentNode, path: Path): Path | undefined {
  const steps = producers(node);
  if (steps.length === 0) return undefined;
  if (path[0] === "exportedVariables") return isExported(steps, String(path[1])) ? path.slice(0, 2) : undefined;
  const output = path.indexOf("outputVariables");
  const name = path[output + 1];
  if (path[output - 1] !== "output" || name === undefined) return undefined;
  const place = absolute(node, path.slice(0, output - 1));
  const isRead = steps.some((step) => namesOf(step).includes(String(name)) && leadsTo(place, step.names));
  return isRead ? path.slice(0, output + 2) : undefined;
}

/** Of any scope: one that is not read here is refused for that. */
function isExported(steps: readonly StepNode[], name: string): boolean {
  const [, key, ...rest] = name.split(".");
  return steps.some((step) => {
    const { type, spec } = step.document;
    return moduleOf(type).outputAlias?.(spec)?.key === key && namesOf(step).includes(rest.join("."));
  });
}

const ITERATION = /(?:_\d+)+$/;

/** A part of the path may name an iteration, as in `unit_0`. */
const leadsTo = (place: Path, names: readonly string[]): boolean =>
  place.length === names.length &&
  place.every((part, nth) => part === names[nth] || String(part).replace(ITERATION, "") === names[nth]);

/** The path from the pipeline on. */
export function absolute(node: DocumentNode, path: Path): Path {
  const stage = stageOf(node)?.names ?? [];
  const roots = new Map<string | number | undefined, Path>([
    ["stage", stage],
    ["execution", [...stage, "spec", "execution"]],
    ["steps", [...stage, "spec", "execution", "steps"]],
    ["stepGroup", [node, ...ancestorsOf(node)].find(({ kind }) => kind === "group")?.names ?? []],
    ["step", node.names],
  ]);
  const root = roots.get(path[0]);
  return root ? [...root, ...path.slice(1)] : path;
}
