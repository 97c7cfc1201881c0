import type { Actor } from "../core/actor.ts";
import type { Page } from "../core/page.ts";
import type { Place } from "../core/reference.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { scopeOf, type Connector } from "./connector.ts";
import { countConnectors, listConnectors, type ConnectorFilter } from "./store/connectors.ts";

export type ConnectorQuery = {
  readonly filter: ConnectorFilter;
  /** Also those of the organization and of the account that a project sees. */
  readonly withOuter: boolean;
  readonly limit: number;
  readonly offset: number;
};

/** The connectors of one scope by name. Throws what RequireScope throws. */
export type ListConnectors = (actor: Actor, place: Place, query: ConnectorQuery) => Promise<Page<Connector>>;

export const makeListConnectors =
  (deps: { db: Db; authorize: Authorize; requireScope: RequireScope }): ListConnectors =>
  async (actor, place, { filter, withOuter, limit, offset }) => {
    const { accountId } = actor;
    const places = withOuter ? outward(place) : [place];
    for (const at of places) deps.authorize(actor, "core_connector_view", { accountId, ...scopeOf(at) });
    await deps.requireScope(actor, place);
    return {
      items: await listConnectors(deps.db, accountId, places, filter, { limit, offset }),
      limit,
      offset,
      total: () => countConnectors(deps.db, accountId, places, filter),
    };
  };

/** The place and those around it, each once. */
function outward({ orgIdentifier, projectIdentifier }: Place): readonly Place[] {
  return [
    { orgIdentifier: null, projectIdentifier: null },
    ...(orgIdentifier === null ? [] : [{ orgIdentifier, projectIdentifier: null }]),
    ...(projectIdentifier === null ? [] : [{ orgIdentifier, projectIdentifier }]),
  ];
}
