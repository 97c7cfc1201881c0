import { authorizeSomewhere, type Permits } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Db } from "../platform/db/db.ts";
import { findTriggerById, findTriggersById, selectTriggerByName } from "./store/triggers.ts";
import type { Trigger } from "./trigger.ts";

type Deps = { readonly db: Pick<Db, "query">; readonly permits: Permits };

/** Returns a trigger by its wire id; undefined if it does not exist or the actor may not see its pipeline. */
export const findTrigger =
  (deps: Deps) =>
  async (actor: Actor, id: string): Promise<Trigger | undefined> => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const uuid = fromWire(id);
    return onlyVisible(deps, actor, uuid && (await findTriggerById(deps.db, actor.accountId, uuid)));
  };

export type FindTrigger = ReturnType<typeof findTrigger>;

/** Triggers that other rows name, in the order of the ids; undefined as for `FindTrigger`. */
export const findTriggers =
  (deps: Deps) =>
  async (actor: Actor, ids: readonly Uuid[]): Promise<readonly (Trigger | undefined)[]> => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const found = await findTriggersById(deps.db, actor.accountId, ids);
    const byId = new Map(found.map((trigger) => [trigger.id, trigger]));
    return ids.map((id) => onlyVisible(deps, actor, byId.get(id)));
  };

export type FindTriggers = ReturnType<typeof findTriggers>;

/** Returns the oldest trigger of this name in an application; undefined as in `findTrigger`. */
export const findTriggerByName =
  (deps: Deps) =>
  async (actor: Actor, applicationId: string, name: string): Promise<Trigger | undefined> => {
    authorizeSomewhere(actor, "core_pipeline_view");
    const project = fromWire(applicationId);
    const { accountId } = actor;
    const found = project && (await selectTriggerByName(deps.db, { accountId, projectId: project, name }));
    return onlyVisible(deps, actor, found);
  };

export type FindTriggerByName = ReturnType<typeof findTriggerByName>;

const onlyVisible = ({ permits }: Deps, actor: Actor, trigger: Trigger | undefined): Trigger | undefined =>
  trigger && permits(actor, "core_pipeline_view", trigger, trigger.pipelineIdentifier) ? trigger : undefined;
