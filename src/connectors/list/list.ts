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
  /** Includes the connectors of the outer scopes: the organization and the account. */
  readonly withOuter: boolean;
  readonly window: Window;
};

/** Lists the connectors of one scope, by name unless the window has another order. Throws what RequireScope throws. */
export const listConnectors =
  (deps: { db: Db; requireScope: RequireScope }) =>
  async (actor: Actor, place: Place, { filter, withOuter, window }: ConnectorQuery): Promise<Page<Connector>> => {
    const { accountId } = actor;
    // The actor must be allowed to list the place itself. Outer places contribute the connectors that the actor may
    // see.
    const own = { ...place, shown: listed(actor, "core_connector_view", scopeOf(accountId, place)) };
    const places = withOuter ? [...outerPlaces(actor, place), own] : [own];
    await deps.requireScope(actor, place);
    const selection = { accountId, places, filter };
    return {
      items: await selectConnectors(deps.db, selection, window),
      ...window,
      total: () => selectConnectorCounts(deps.db, selection),
    };
  };

export type ListConnectors = ReturnType<typeof listConnectors>;

/** The outer places in which the actor may see connectors. */
function outerPlaces(actor: Actor, { orgIdentifier, projectIdentifier }: Place): readonly ShownPlace[] {
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
