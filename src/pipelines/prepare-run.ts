import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { makeLru } from "../core/lru.ts";
import type { Grants } from "../core/grants.ts";
import type { Plan } from "../engine/index.ts";
import type { JudgeSecrets } from "../secrets/index.ts";
import { readPipeline, type PipelineDocument } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import { pathText } from "../platform/document/path.ts";
import { keptAuthority, type Author } from "./authority.ts";
import type { GetPipeline } from "./get.ts";
import { fillIn } from "./inputs.ts";
import type { InProject, SavedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { buildPlan, type Facts } from "./plan.ts";
import { filledSecrets, requireSecrets, type WrittenSecret } from "./secrets.ts";
import { permitReferences, requireReferences, resolveReferences, type ExistOf, type WrittenAt } from "./references.ts";

/** A pipeline with its inputs filled in; only the facts of one run are missing. */
export type PreparedRun = {
  readonly pipelineId: Uuid;
  readonly projectId: Uuid;
  readonly version: number;
  readonly name: string;
  readonly projectName: string;
  /** Pure but for `newId`, which names the nodes. Throws `pipeline.unresolved_variable`. */
  readonly plan: (facts: Facts, newId: () => string) => Plan;
};

type Input =
  | { readonly text: string; readonly format: "yaml" | "json"; readonly authors?: readonly Author[] }
  | undefined;

/**
 * Reads the newest version and fills in the inputs, given as YAML or JSON text. What it names by references has to
 * exist now. `trigger` is what references may read as `<+trigger.…>`; it must be that of the facts of the run.
 * Throws `pipeline.not_found`, the problems of inputs (a missing one is named by its path), `pipeline.bad_references`, and
 * for a trigger `pipeline.author_refused`.
 */
export type PrepareRun = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: Input,
  trigger?: Facts["trigger"],
) => Promise<PreparedRun>;

/**
 * Whether a run could be made with these inputs. What they name need not exist yet; what does has to be the actor's to
 * use: `access.not_permitted`. Throws what PrepareRun throws of inputs and of secrets.
 */
export type TryInputs = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: Input,
) => Promise<Pick<SavedPipeline, "id" | "projectId">>;

/** Documents kept; one with its inputs has some ten kilobytes. */
const KEPT = 200;

export type Filled = {
  readonly document: PipelineDocument;
  readonly at: WrittenAt;
  readonly secrets: readonly WrittenSecret[];
};

export function makePrepareRun(deps: { get: GetPipeline; exist: ExistOf; judgeSecrets: JudgeSecrets }): {
  readonly prepareRun: PrepareRun;
  readonly tryInputs: TryInputs;
} {
  // A version never changes and merging is pure, so one reading serves every run with the same inputs.
  const kept = makeLru<string, Filled>(KEPT);

  function filledIn(pipeline: SavedPipeline, scope: InProject, input: Input): Filled {
    const key = `${pipeline.id} ${pipeline.version} ${input?.format ?? ""} ${input?.text ?? ""}`;
    const filled = kept.get(key) ?? fill(pipeline.yaml, scope, input);
    kept.set(key, filled);
    return filled;
  }

  return {
    async prepareRun(actor, scope, identifier, input, trigger = null) {
      const pipeline = await deps.get(actor, scope, identifier);
      const filled = filledIn(pipeline, scope, input);
      const { orgIdentifier, projectIdentifier } = scope;
      const facts = {
        account: { identifier: toWire(actor.accountId) },
        org: { identifier: orgIdentifier },
        project: { identifier: projectIdentifier, name: pipeline.projectName },
        trigger,
      };
      const document = resolveReferences(filled.document, facts, filled.at);
      const ask = async (who: Actor): Promise<void> => {
        await requireSecrets(deps.judgeSecrets, who, scope, filled.secrets);
        await requireReferences(deps.exist, who, { orgIdentifier, projectIdentifier }, document, filled.at);
      };
      await ask(actor);
      if (actor.kind === "trigger" || trigger !== null) await eachAuthor(actor, pipeline, input, ask);
      return {
        pipelineId: pipeline.id,
        projectId: pipeline.projectId,
        version: pipeline.version,
        name: pipeline.name,
        projectName: pipeline.projectName,
        plan: (known, newId) => buildPlan(document, known, newId),
      };
    },
    async tryInputs(actor, scope, identifier, input) {
      const pipeline = await deps.get(actor, scope, identifier);
      const { document, secrets } = filledIn(pipeline, scope, input);
      const ask = async (who: Actor): Promise<void> => {
        await requireSecrets(deps.judgeSecrets, who, scope, secrets);
        await permitReferences(deps.exist, who, scope, document);
      };
      await ask(actor);
      await eachAuthor(actor, pipeline, input, ask);
      return pipeline;
    },
  };
}

/**
 * Asks in the name of each whose text a trigger runs, for these could not be asked then: throws `pipeline.author_refused`
 * for the first who may not. Who starts a run by hand answers for it alone, unless it is one of a trigger again.
 */
async function eachAuthor(
  actor: Actor,
  { identifier, version, authority }: SavedPipeline,
  input: Input,
  ask: (author: Actor) => Promise<void>,
): Promise<void> {
  const own = authority ? [{ what: `version ${version} of the pipeline [${identifier}]`, authority }] : [];
  const asked = new Set<string>();
  for (const { what, authority: grants } of [...own, ...(input?.authors ?? [])]) {
    // Input sets are many and mostly of one hand, and each asking costs statements.
    const same = keptAuthority(grants);
    if (asked.has(same)) continue;
    asked.add(same);
    try {
      await ask(holding(actor, grants));
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      throw problem("pipeline.author_refused", [what, error.message], { faults: error.faults, cause: error });
    }
  }
}

const holding = ({ accountId }: Actor, grants: Grants): Actor => ({
  ...{ kind: "trigger", accountId, id: accountId },
  ...{ name: "an author", grants },
});

export function fill(yaml: string, scope: InProject, input: Input): Filled {
  const { pipeline, doc } = readPipeline(yaml, scope);
  const filled = fillIn(pipeline, input?.text, { format: input?.format ?? "yaml" });
  const { pipeline: document, givenAt, givenIn } = filled;
  // The documents themselves are large and are not kept.
  const places = new Map(
    referencesIn(document).map(({ path }) => {
      const given = givenAt(path);
      return [pathText(path), given ? { ...given, inInputs: true } : { ...doc.position(path), inInputs: false }];
    }),
  );
  const secrets = filledSecrets(document, givenIn, doc.positionIn);
  return { document, secrets, at: (path) => places.get(pathText(path)) ?? { inInputs: false } };
}
