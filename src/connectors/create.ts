import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import type { Connector, NewConnector } from "./connector.ts";
import { problem } from "./problems.ts";
import { insertConnector } from "./store.ts";

/** The scope stands in the connector itself. Throws what RequireScope throws, and `connector.duplicate`. */
export type CreateConnector = (actor: Actor, connector: NewConnector) => Promise<Connector>;

export type CreateConnectorDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly requireScope: RequireScope;
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
    await deps.requireScope(actor, input);
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
