/**
 * Triggers run a pipeline while nobody is there to be asked. So whoever changes what one of them would run, by the
 * pipeline or by an input set, has to hold all that such a run uses: else they would use it by way of the trigger.
 */
import { holdsAll } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { PipelineDeps } from "./create.ts";
import { referencesIn } from "./document/references.ts";
import type { PipelineDocument } from "./document/schema.ts";
import { inputsToBe, type SetText } from "./input-sets/merge.ts";
import type { InProject, SavedPipeline } from "./pipeline.ts";
import { fill, type Filled } from "./prepare-run.ts";
import { problem } from "./problems.ts";
import { resolveReferences } from "./references.ts";
import type { TriggerRun } from "./trigger-run.ts";

type Deps = Pick<PipelineDeps, "db" | "exist" | "judgeSecrets" | "triggersOf">;

/** The pipeline as it is to be, or as it is with a set as that is to be. */
type ToBe = { readonly pipeline: SavedPipeline; readonly changed?: SetText | undefined };

/** Throws `pipeline.trigger_refused` (403). A trigger that could not run like that asks for nothing: the change that mends it does. */
export async function requireTriggersHeld(deps: Deps, actor: Actor, scope: InProject, toBe: ToBe): Promise<void> {
  for (const trigger of await deps.triggersOf(actor.accountId, toBe.pipeline.id)) {
    const filled = await filledFor(deps, actor.accountId, scope, toBe, trigger);
    if (filled && !(await mayUse(deps, actor, scope, filled, trigger.authority)))
      throw problem("pipeline.trigger_refused", [trigger.identifier]);
  }
}

async function filledFor(
  deps: Deps,
  accountId: Uuid,
  scope: InProject,
  { pipeline, changed }: ToBe,
  { inputSetRefs: references, inputs: last }: TriggerRun,
): Promise<Filled | undefined> {
  try {
    const inputs = await inputsToBe(deps, accountId, { pipeline, within: scope, changed }, { references, last });
    const filled = fill(pipeline.yaml, scope, inputs);
    return { ...filled, document: resolved(filled, accountId, scope, pipeline) };
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
}

/** With references as they will be; left as it is where only the payload can say. */
function resolved({ document, at }: Filled, accountId: Uuid, scope: InProject, pipeline: SavedPipeline) {
  const facts = {
    account: { identifier: toWire(accountId) },
    org: { identifier: scope.orgIdentifier },
    project: { identifier: scope.projectIdentifier, name: pipeline.projectName },
    trigger: null,
  };
  try {
    return resolveReferences(document, facts, at);
  } catch (error) {
    if (error instanceof Problem) return document;
    throw error;
  }
}

async function mayUse(deps: Deps, actor: Actor, scope: InProject, filled: Filled, authority: Grants): Promise<boolean> {
  const { orgIdentifier, projectIdentifier } = scope;
  const home = { orgIdentifier, projectIdentifier };
  const anybody = { kind: "system", accountId: actor.accountId } as const;
  const [own, others] = await Promise.all([
    deps.judgeSecrets(actor, home, filled.secrets),
    deps.judgeSecrets(anybody, home, filled.secrets),
  ]);
  // What nobody can use, as what there is not, is nobody's to hold.
  if (own.some((fault, nth) => fault && !others[nth])) return false;
  return mayUseNamed(deps, actor, home, filled.document, authority);
}

async function mayUseNamed(
  { exist }: Deps,
  actor: Actor,
  home: InProject,
  document: PipelineDocument,
  authority: Grants,
): Promise<boolean> {
  const anybody = { kind: "system", accountId: actor.accountId } as const;
  for (const { kind, value } of referencesIn(document)) {
    if (value.includes("<+")) {
      if (!holdsKind(actor, authority, kind)) return false;
      continue;
    }
    const [own] = await exist[kind](actor, home, [value]).catch(refusedAsFalse);
    if (own !== true && (await exist[kind](anybody, home, [value]))[0] === true) return false;
  }
  return true;
}

function refusedAsFalse(error: unknown): readonly boolean[] {
  if (error instanceof Problem && error.status === 403) return [false];
  throw error;
}

/** Whether the actor may use all of a kind that the trigger may: the payload chooses among these. */
function holdsKind(actor: Actor, authority: Grants, kind: string): boolean {
  if (actor.kind === "system") return true;
  const own = actor.kind === "user" || actor.kind === "service_account" ? actor.grants : [];
  const permissions = new Set([`core_${kind}_view`, `core_${kind}_access`]);
  return holdsAll(
    own,
    authority.map((grant) => ({ ...grant, permissions: permissions.intersection(grant.permissions) })),
  );
}
