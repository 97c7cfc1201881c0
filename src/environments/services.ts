import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { countServices, listServices, type ServiceCondition, type ServiceNode } from "./store/services.ts";

type Deps = { readonly db: Db };

/** Services of all applications that the actor may see, by name. */
export type ListServices = (
  actor: Actor,
  conditions: readonly ServiceCondition[],
  page: { readonly limit: number; readonly offset: number },
) => Promise<Page<ServiceNode>>;

export const makeListServices =
  ({ db }: Deps): ListServices =>
  async (actor, given, page) => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_service_view");
    const places = reach(actor, "core_service_view");
    const conditions: readonly ServiceCondition[] =
      places === "all" ? given : [...given, { is: "seenBy", value: JSON.stringify(places) }];
    return {
      items: await listServices(db, accountId, conditions, page),
      ...page,
      total: () => countServices(db, accountId, conditions),
    };
  };

/** Throws `service.no_such_id`, also for one that the actor may not see. */
export type GetService = (actor: Actor, id: string) => Promise<ServiceNode>;

export const makeGetService =
  (list: ListServices): GetService =>
  async (actor, id) => {
    const uuid = fromWire(id);
    const { items } = await list(actor, [{ is: "serviceIn", value: uuid ? [uuid] : [] }], { limit: 1, offset: 0 });
    if (!items[0]) throw problem("service.no_such_id", [id]);
    return items[0];
  };

/** The first of this name by id, since names are not unique. Throws `service.no_such_name`. */
export type GetServiceByName = (actor: Actor, applicationId: string, name: string) => Promise<ServiceNode>;

export const makeGetServiceByName =
  (list: ListServices): GetServiceByName =>
  async (actor, applicationId, name) => {
    const project = fromWire(applicationId);
    const conditions: readonly ServiceCondition[] = [
      { is: "applicationIn", value: project ? [project] : [] },
      { is: "named", value: name },
    ];
    const { items } = await list(actor, conditions, { limit: 1, offset: 0 });
    if (!items[0]) throw problem("service.no_such_name", [name, applicationId]);
    return items[0];
  };
