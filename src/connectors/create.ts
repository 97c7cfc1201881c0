import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { GetProject, RequireOrganization } from "../projects/index.ts";
import type { Connector, NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { insertConnector } from "./store.ts";

/** The scope stands in the connector itself. Throws `project.not_found` for a project that is not there, `connector.duplicate`. */
export type CreateConnector = (actor: Actor, connector: NewConnector) => Promise<Connector>;

export type CreateConnectorDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly getProject: GetProject;
  readonly requireOrganization: RequireOrganization;
  readonly clock: Clock;
  readonly newId: NewId;
};

export const makeCreateConnector =
  (deps: CreateConnectorDeps): CreateConnector =>
  async (actor, input) => {
    const scope = {
      ...(input.orgIdentifier === null ? {} : { orgIdentifier: input.orgIdentifier }),
      ...(input.projectIdentifier === null ? {} : { projectIdentifier: input.projectIdentifier }),
    };
    deps.authorize(actor, "core_connector_edit", { accountId: actor.accountId, ...scope });
    await requireScope(deps, actor, input);
    const at = deps.clock.now();
    const connector: Connector = { ...input, id: deps.newId(), version: 1, createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertConnector(tx, actor.accountId, connector)))
        throw problem("connector.duplicate", [input.identifier]);
      await deps.audit.record(tx, actor, {
        operation: "connector.create",
        resourceType: "CONNECTOR",
        resourceId: input.identifier,
        scope,
      });
    });
    return connector;
  };

async function requireScope(deps: CreateConnectorDeps, actor: Actor, input: NewConnector): Promise<void> {
  if (input.orgIdentifier === null) {
    if (input.projectIdentifier !== null) throw problem("connector.project_without_organization");
    return;
  }
  if (input.projectIdentifier === null) await deps.requireOrganization(actor, input.orgIdentifier);
  else await deps.getProject(actor, input.orgIdentifier, input.projectIdentifier);
}
