/** The work of steps. It is the same in all runs of a document, so that it is planned once. */
import { setImmediate } from "node:timers/promises";
import type { SecretsHome, WorkTemplate } from "../engine/index.ts";
import { moduleOf } from "../steps/table.ts";
import { deploymentOf, type PipelineDocument } from "./document/schema.ts";
import { secretVariables, withSecrets } from "./document/secrets.ts";
import { stageOf, type StepNode, stepsIn } from "./document/visit.ts";

/** The project of the pipeline. */
type Scope = Pick<SecretsHome, "orgIdentifier" | "projectIdentifier">;

/** Steps that are planned before others have their turn: about 5 ms. */
const AT_ONCE = 200;

/** A node belongs to one document, and a document to one project. */
const planned = new WeakMap<StepNode, WorkTemplate>();

/** Plans the work of all steps before the plan asks for it, and lets others have their turn in between. */
export async function planWorks(pipeline: PipelineDocument, scope: Scope): Promise<void> {
  for (const [nth, step] of stepsIn(pipeline).entries()) {
    if (nth % AT_ONCE === AT_ONCE - 1) await setImmediate();
    workOf(step, scope);
  }
}

export function workOf(node: StepNode, scope: Scope): WorkTemplate {
  const known = planned.get(node);
  if (known) return known;
  const work = plannedWork(node, scope);
  planned.set(node, work);
  return work;
}

function plannedWork(node: StepNode, { orgIdentifier, projectIdentifier }: Scope): WorkTemplate {
  const { identifier, type, spec } = node.document;
  const secrets = secretVariables(node);
  const stage = stageOf(node);
  const infrastructure = stage && deploymentOf(stage.document)?.infrastructure;
  const environment = infrastructure && { environmentRef: infrastructure.environmentRef };
  const home = { orgIdentifier, projectIdentifier, ...environment };
  const hasCluster = (infrastructure?.infrastructureDefinition ?? undefined) !== undefined;
  const context = { identifier, home, hasCluster, withSecrets: (text: string) => withSecrets(text, secrets) };
  return moduleOf(type).plan(spec, context);
}
