import { type ChainedInput, type ChainedOutput, type Plan, withChained } from "../engine/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { FoundReference } from "./find-references.ts";
import type { InProject } from "./pipeline.ts";
import { buildOutline, type Facts, type FilledPipeline } from "./plan.ts";

/** One pipeline of a run: that of the execution, or one that a stage of it runs. */
export type RunPart = {
  readonly filled: FilledPipeline;
  readonly references: readonly FoundReference[];
  readonly chained: readonly ChainedPart[];
};

export type ChainedPart = RunPart & {
  readonly id: Uuid;
  readonly scope: InProject;
  readonly projectName: string;
  /** Where expressions find the stage that runs it. */
  readonly stage: readonly string[];
  readonly inputs: readonly ChainedInput[];
  readonly outputs: readonly ChainedOutput[];
  /** The error with the place of the stage. */
  readonly placed: (error: unknown) => unknown;
};

/** The plan of a part with those of the pipelines that its stages run. Pure but for `newId`. */
export function planOfPart({ filled, references, chained }: RunPart, facts: Facts, newId: () => string): Plan {
  const { plan, idOf } = buildOutline(filled, { ...facts, targets: targetsOf(references) }, newId);
  const own: Plan = { ...plan, references: references.map(({ connector: _, target: __, ...one }) => one) };
  return chained.reduce((around, part) => {
    const child = planOfChained(part, facts, newId);
    const { id: saved, inputs, outputs } = part;
    const joined = withChained(around, idOf({ names: part.stage }), { child, saved, inputs, outputs });
    const below = (child.references ?? []).map((reference) => ({ pipeline: child.root, ...reference }));
    return { ...joined, references: [...(around.references ?? []), ...below] };
  }, own);
}

/** By the words of expressions, then by reference. */
function targetsOf(references: readonly FoundReference[]): NonNullable<Facts["targets"]> {
  const of = (wanted: FoundReference["kind"]) =>
    Object.fromEntries(
      references.flatMap(({ kind, reference, target }) => (kind === wanted && target ? [[reference, target]] : [])),
    );
  return { service: of("service"), env: of("environment") };
}

/** The run is the same; organization and project are its own. */
function planOfChained(part: ChainedPart, facts: Facts, newId: () => string): Plan {
  try {
    return planOfPart(part, { ...facts, ...placeOf(part) }, newId);
  } catch (error) {
    throw part.placed(error);
  }
}

/** What a chained pipeline knows of its own place, and which of its variables have no value before its stage begins. */
export const placeOf = ({ scope, projectName, inputs }: Pick<ChainedPart, "scope" | "projectName" | "inputs">) => ({
  org: { identifier: scope.orgIdentifier },
  project: { identifier: scope.projectIdentifier, name: projectName },
  late: new Set(inputs.map(({ name }) => name)),
});
