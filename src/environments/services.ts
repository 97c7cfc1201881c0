import { authorizeSomewhere, reach } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { countServices, selectServices, type ServiceCondition, type ServiceNode } from "./store/services.ts";

type Deps = { readonly db: Db };

/** Lists the services of all applications that the actor may see, by name. */
export const listServices =
  ({ db }: Deps) =>
  async (
    actor: Actor,
    given: readonly ServiceCondition[],
    window: { readonly limit: number; readonly offset: number },
  ): Promise<Page<ServiceNode>> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_service_view");
    const places = reach(actor, "core_service_view");
    const conditions: readonly ServiceCondition[] =
      places === "all" ? given : [...given, { is: "seenBy", value: JSON.stringify(places) }];
    return {
      items: await selectServices(db, accountId, { conditions, window }),
      ...window,
      total: () => countServices(db, accountId, conditions),
    };
  };

export type ListServices = ReturnType<typeof listServices>;

/** Returns one service. Throws `service.no_such_id`, also for one that the actor may not see. */
export const getService =
  (list: ListServices) =>
  async (actor: Actor, id: string): Promise<ServiceNode> => {
    const uuid = fromWire(id);
    const { items } = await list(actor, [{ is: "serviceIn", value: uuid ? [uuid] : [] }], { limit: 1, offset: 0 });
    if (!items[0]) throw problem("service.no_such_id", [id]);
    return items[0];
  };

export type GetService = ReturnType<typeof getService>;

/** Returns the service with this name; the first by id, because names are not unique. Throws `service.no_such_name`. */
export const getServiceByName =
  (list: ListServices) =>
  async (actor: Actor, applicationId: string, name: string): Promise<ServiceNode> => {
    const project = fromWire(applicationId);
    const conditions: readonly ServiceCondition[] = [
      { is: "applicationIn", value: project ? [project] : [] },
      { is: "named", value: name },
    ];
    const { items } = await list(actor, conditions, { limit: 1, offset: 0 });
    if (!items[0]) throw problem("service.no_such_name", [name, applicationId]);
    return items[0];
  };

export type GetServiceByName = ReturnType<typeof getServiceByName>;
