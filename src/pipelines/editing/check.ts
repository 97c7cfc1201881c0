/** Says of a document what saving and running it would say, without saving it. */
import type { Actor } from "../../core/actor.ts";
import { type Fault, Problem } from "../../core/problem.ts";
import { permitAuthor } from "../chained/permit-author.ts";
import type { PipelineDeps } from "../create.ts";
import { problem } from "../document/problems.ts";
import { missingReferences, type MissingDeps } from "./missing-references.ts";
import type { CheckedDocument } from "../jobs/jobs.ts";
import { locatorOf } from "../jobs/run-job.ts";
import { type InProject, placeOf } from "../pipeline.ts";
import { placeIn } from "../places.ts";
import { requireConnectorTypes } from "../references.ts";
import { requireSecrets } from "../secrets.ts";
import { type PipelineText, toRead } from "../text.ts";

/** `ERROR`: saving refuses it; `WARNING`: a run by the caller refuses it as things are now. */
export type FoundFault = Fault & { readonly severity: "ERROR" | "WARNING"; readonly code: string };

export type CheckResult = {
  readonly faults: readonly FoundFault[];
  readonly read: Pick<NonNullable<CheckedDocument["read"]>, "plan" | "inputs"> | undefined;
};

type Deps = MissingDeps &
  Pick<PipelineDeps, "authorize" | "getProject" | "runJob" | "checkScripts" | "checkSecretUses" | "findUsedConnectors">;

/**
 * The faults of a document, which need not be complete, and what it would run. Bash is asked for actors who may save it.
 * Throws `project.not_found`, and what workers throw that have no turn.
 */
export const checkPipeline =
  (deps: Deps) =>
  async (actor: Actor, scope: InProject, sent: PipelineText): Promise<CheckResult> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_view", { accountId, ...placeOf(scope) });
    await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const faults: FoundFault[] = [];
    const collect = collector(faults);
    let checked: CheckedDocument | undefined;
    await collect("ERROR", async () => {
      checked = await deps.runJob(accountId, "check", toRead(sent, placeOf(scope)));
    });
    const { read } = checked ?? {};
    for (const fault of checked?.faults ?? []) faults.push({ ...fault, severity: "ERROR", code: INVALID });
    if (read) await collectReferenceFaults(deps, actor, { scope, sent, read }, collect);
    return { faults, read };
  };

export type CheckPipeline = ReturnType<typeof checkPipeline>;

const INVALID = "SCHEMA_VALIDATION_FAILED";

type Collect = (severity: FoundFault["severity"], work: () => Promise<void>) => Promise<void>;

/** Problems of the caller become faults. */
const collector =
  (faults: FoundFault[]): Collect =>
  async (severity, work) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) throw error;
      const all = error.faults.length > 0 ? error.faults : [{ path: "", message: error.message }];
      for (const fault of all) faults.push({ ...fault, severity, code: error.wire });
    }
  };

type ToCheck = {
  readonly scope: InProject;
  readonly sent: PipelineText;
  readonly read: NonNullable<CheckedDocument["read"]>;
};

async function collectReferenceFaults(
  deps: Deps,
  actor: Actor,
  { scope, sent, read: { document, secrets, places } }: ToCheck,
  collect: Collect,
): Promise<void> {
  const { accountId } = actor;
  const home = placeOf(scope);
  const at = placeIn(places);
  if (deps.permits(actor, "core_pipeline_edit", { accountId, ...home }, document.identifier))
    await collect("ERROR", () => deps.checkScripts(accountId, document, locatorOf(deps.runJob, accountId, sent)));
  await collect("ERROR", async () => permitAuthor(actor, document, at));
  await collect("ERROR", () => requireSecrets(deps.checkSecretUses, actor, scope, secrets));
  await collect("ERROR", () => requireConnectorTypes(deps, actor, { home: scope, document, at }));
  await collect("WARNING", async () => {
    const faults = await missingReferences(deps, actor, { home, document, at });
    if (faults.length > 0) throw problem("pipeline.bad_references", [], { faults });
  });
}
