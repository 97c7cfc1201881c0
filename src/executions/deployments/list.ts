/** Which service runs where, and what was deployed before. */
import type { Actor } from "../../core/actor.ts";
import { listed } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { InProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { GetProject } from "../../projects/index.ts";
import { markText } from "../marks.ts";
import { problem } from "../problems.ts";
import { findLastDeployments, listDeploymentRows, listTargets } from "../store/deployments.ts";
import { seenInProject } from "../visible.ts";
import type { DeployedService, Deployment, DeploymentCursor, Target } from "./deployment.ts";

export type DeploymentDeps = { readonly db: Db; readonly getProject: GetProject };

export type TargetFilter = {
  readonly environmentIdentifier?: string | undefined;
  readonly serviceIdentifier?: string | undefined;
};

/** Throws `project.not_found`. */
export async function openProject(
  { getProject }: Pick<DeploymentDeps, "getProject">,
  actor: Actor,
  scope: InProject,
): Promise<Uuid> {
  listed(actor, "core_pipeline_view", { accountId: actor.accountId, ...scope });
  return (await getProject(actor, scope.orgIdentifier, scope.projectIdentifier)).id;
}

export const targetOf = ({ environmentIdentifier: environment, serviceIdentifier: service }: TargetFilter) => ({
  environment: environment === undefined ? undefined : markText(environment),
  service: service === undefined ? undefined : markText(service),
});

/**
 * The deployments of a service, of an environment, or of both, the newest first, as far as the actor may see their
 * pipelines. Throws `project.not_found` and `execution.no_target`.
 */
export const listDeployments =
  (deps: DeploymentDeps) =>
  async (
    actor: Actor,
    scope: InProject,
    filter: TargetFilter,
    page: { readonly size: number; readonly beyond: DeploymentCursor | undefined },
  ): Promise<readonly Deployment[]> => {
    const target = targetOf(filter);
    if (target.environment === undefined && target.service === undefined) throw problem("execution.no_target");
    const projectId = await openProject(deps, actor, scope);
    const { size: limit, beyond } = page;
    return listDeploymentRows(
      deps.db,
      actor.accountId,
      { conditions: await seenInProject(deps.db, actor, projectId), projectId, ...target },
      { limit, beyond },
    );
  };

export type ListDeployments = ReturnType<typeof listDeployments>;

export type DeployedPage = {
  readonly services: readonly DeployedService[];
  /** Where the next page goes on; undefined on the last one. */
  readonly next: Target | undefined;
};

/** What runs at each target of the project, ordered by environment and service. Throws `project.not_found`. */
export const listDeployedServices =
  (deps: DeploymentDeps) =>
  async (
    actor: Actor,
    scope: InProject,
    filter: TargetFilter,
    { size, after }: { readonly size: number; readonly after: Target | undefined },
  ): Promise<DeployedPage> => {
    const { accountId } = actor;
    const projectId = await openProject(deps, actor, scope);
    const targets = await listTargets(deps.db, accountId, { projectId, ...targetOf(filter) }, { after, limit: size });
    const rows =
      targets.length === 0
        ? []
        : await findLastDeployments(
            deps.db,
            accountId,
            { conditions: await seenInProject(deps.db, actor, projectId), projectId },
            targets,
          );
    const services = targets.flatMap(({ environment, service }): DeployedService[] => {
      const own = rows.filter((row) => row.environment === environment && row.service === service);
      const latest = own.find(({ isLatest }) => isLatest);
      if (!latest) return [];
      return [{ environment, service, latest, running: own.find(({ isLatest }) => !isLatest) ?? null }];
    });
    return { services, next: targets.length === size ? targets.at(-1) : undefined };
  };

export type ListDeployedServices = ReturnType<typeof listDeployedServices>;
