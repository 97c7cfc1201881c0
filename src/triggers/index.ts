/** Triggers, which start executions when their custom webhook is called. */
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { NoteRefused } from "../core/refused.ts";
import type { GetSummary, StartTransaction } from "../executions/index.ts";
import type { PrepareRun } from "../pipelines/index.ts";
import type { Store } from "../platform/db/db.ts";
import type { EmptyScope, GetProject } from "../projects/index.ts";
import type { CheckCallDeps } from "./webhooks/check-call.ts";
import { deleteTrigger, updateTrigger } from "./change.ts";
import { createTrigger, sealIdentity } from "./create.ts";
import { getDelivery } from "./webhooks/delivery.ts";
import { createDeliveryFeeds } from "./deliveries/feeds.ts";
import { followDeliveries } from "./deliveries/follow.ts";
import { getStoredDelivery, listDeliveries } from "./deliveries/read.ts";
import { replayDelivery } from "./deliveries/replay.ts";
import { deliveryRoutes } from "./deliveries/rest.ts";
import { createDeliveryWakeups } from "./deliveries/wakeups.ts";
import { adopt, type AdoptDeps } from "./ownership/adopt.ts";
import { listOwned, type ListOwnedDeps } from "./ownership/list.ts";
import { ownershipRoutes } from "./ownership/rest.ts";
import { findTrigger, findTriggerByName, findTriggers } from "./find.ts";
import { getTrigger, getTriggerDetails, listTriggers } from "./read.ts";
import { createWebhookInbox } from "./webhooks/receive.ts";
import { triggerRoutes } from "./rest.ts";
import { createDeliveryRetention } from "./webhooks/retention.ts";
import { countTriggersOf } from "./store/lists.ts";
import { deleteOfExecutions } from "./store/retention.ts";
import { createSealedTokens } from "./webhooks/sealed-tokens.ts";
import { deleteTriggersOf, isTriggerLive } from "./store/triggers.ts";
import type { Trigger } from "./trigger.ts";

export { addTriggerTypes } from "./graphql.ts";
export { triggerDocument } from "./document.ts";
export { createSealedTokens };

export type TriggersDeps = AdoptDeps &
  ListOwnedDeps &
  CheckCallDeps & {
    readonly prepareRun: PrepareRun;
    readonly startTransaction: StartTransaction;
    readonly getExecution: GetSummary;
    readonly getProject: GetProject;
    readonly refused: NoteRefused;
    readonly onError: (error: unknown) => void;
    /** How callers reach the server; known once it listens. */
    readonly publicUrl: () => string;
  };

/** Starts no timers: the jobs call `sweep` and `retain`. */
export function createTriggers(given: TriggersDeps) {
  const wakeups = createDeliveryWakeups({ ...given, origin: given.newId() });
  const deps = { ...given, onDeliveryChanged: wakeups.wake };
  const webhooks = createWebhookInbox(deps);
  const get = getTrigger(deps);
  const deliveries = {
    listDeliveries: listDeliveries({ ...deps, getTrigger: get }),
    storedDelivery: getStoredDelivery({ ...deps, getTrigger: get }),
    replay: replayDelivery({ ...deps, getTrigger: get, repeat: webhooks.repeat }),
    followDeliveries: followDeliveries({
      ...{ ...deps, getTrigger: get },
      feeds: createDeliveryFeeds({ ...deps, wakeups }),
    }),
    publicUrl: deps.publicUrl,
  };
  const operations = {
    create: createTrigger(deps),
    update: updateTrigger(deps),
    remove: deleteTrigger(deps),
    get,
    details: getTriggerDetails(deps),
    list: listTriggers(deps),
    find: findTrigger(deps),
    findAll: findTriggers(deps),
    findByName: findTriggerByName(deps),
    receive: webhooks.receive,
    delivery: getDelivery(deps),
    // The token starts the pipeline, so only actors who may run the pipeline get it.
    tokenOf: (actor: Actor, trigger: Trigger): string | undefined =>
      deps.permits(actor, "core_pipeline_execute", trigger, trigger.pipelineIdentifier)
        ? deps.sealer.open(trigger.tokenSealed, sealIdentity(trigger))
        : undefined,
  };
  return {
    ...operations,
    routes: [
      ...triggerRoutes({ ...operations, publicUrl: deps.publicUrl }),
      ...deliveryRoutes(deliveries),
      ...ownershipRoutes({ listOwned: listOwned(deps), adopt: adopt(deps) }),
    ],
    publicUrl: deps.publicUrl,
    emptyScope,
    sealed: createSealedTokens(deps),
    /** Whether a trigger exists. Executions of a deleted trigger do not begin and get no secrets. */
    isLive: (accountId: Uuid, id: Uuid, tx?: Store) => isTriggerLive(tx ?? deps.db, accountId, id),
    /** Deletes a bounded number of old or surplus deliveries. Returns whether none is left. */
    retain: createDeliveryRetention(deps),
    countOf: (accountId: Uuid, pipelineIds: readonly Uuid[]) => countTriggersOf(deps.db, accountId, pipelineIds),
    forgetExecutions: deleteOfExecutions,
    /** Processes stored deliveries that are not finished. Runs about once a second. */
    sweep: webhooks.sweep,
    stop: wakeups.stop,
  };
}

const emptyScope: EmptyScope = async (tx, { accountId, projectId }) =>
  projectId === null ? [] : deleteTriggersOf(tx, accountId, projectId);
