import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import { listed, seen } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { RequireScope } from "../../projects/index.ts";
import type { Connector } from "../connector.ts";
import { selectConnectorCounts, selectConnectors, type ConnectorFilter, type ShownPlace } from "../store/connectors.ts";

export type ConnectorQuery = {
  readonly filter: ConnectorFilter;
  /** Also those of the organization and of the account that a project sees. */
  readonly withOuter: boolean;
  readonly window: Window;
};

/** The connectors of one scope by name. Throws what RequireScope throws. */
export const listConnectors =
  (deps: { db: Db; requireScope: RequireScope }) =>
  async (actor: Actor, place: Place, { filter, withOuter, window }: ConnectorQuery): Promise<Page<Connector>> => {
    const { accountId } = actor;
    // The place itself has to be for the actor's eyes; of those around it there is what the actor may see.
    const own = { ...place, shown: listed(actor, "core_connector_view", scopeOf(accountId, place)) };
    const places = withOuter ? [...around(actor, place), own] : [own];
    await deps.requireScope(actor, place);
    return {
      items: await selectConnectors(deps.db, accountId, places, filter, window),
      ...window,
      total: () => selectConnectorCounts(deps.db, accountId, places, filter),
    };
  };

export type ListConnectors = ReturnType<typeof listConnectors>;

/** What is around the place, as far as the actor may see something there. */
function around(actor: Actor, { orgIdentifier, projectIdentifier }: Place): readonly ShownPlace[] {
  const account = { orgIdentifier: null, projectIdentifier: null };
  const places: readonly Place[] = [
    ...(orgIdentifier === null ? [] : [account]),
    ...(projectIdentifier === null ? [] : [{ orgIdentifier, projectIdentifier: null }]),
  ];
  return places.flatMap((at): readonly ShownPlace[] => {
    const visible = seen(actor, "core_connector_view", scopeOf(actor.accountId, at));
    if (visible === "all") return [{ ...at, shown: null }];
    return visible.size === 0 ? [] : [{ ...at, shown: [...visible] }];
  });
}
