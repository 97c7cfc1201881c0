/** What starts executions from outside: custom webhooks. */
import { asIntake } from "../platform/db/budget.ts";
import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { NoteRefused } from "../core/refused.ts";
import type { GetSummary, StartExecution } from "../executions/index.ts";
import type { PrepareRun } from "../pipelines/index.ts";
import type { EmptyScope } from "../projects/index.ts";
import type { AdmitDeps } from "./admit.ts";
import { makeDeleteTrigger, makeUpdateTrigger } from "./change.ts";
import { makeCreateTrigger, sealedFor } from "./create.ts";
import { makeGetDelivery } from "./delivery.ts";
import { makeAdopt, type AdoptDeps } from "./ownership/adopt.ts";
import { makeListOwned, type ListOwnedDeps } from "./ownership/list.ts";
import { ownershipRoutes } from "./ownership/rest.ts";
import { makeFindTrigger, makeFindTriggerByName } from "./find.ts";
import { makeGetTrigger, makeGetTriggerDetails, makeListTriggers } from "./read.ts";
import { makeReceiveWebhook } from "./receive.ts";
import { triggerRoutes } from "./rest.ts";
import { makeDeliveryRetention } from "./retention.ts";
import { deleteOfExecutions } from "./store/retention.ts";
import { makeSealedTokens } from "./sealed-store.ts";
import { deleteTriggersOf, isTriggerLive } from "./store.ts";
import type { Trigger } from "./trigger.ts";

export { addTriggerTypes } from "./graphql.ts";
export { makeSealedTokens };

export type TriggersDeps = AdoptDeps &
  ListOwnedDeps &
  AdmitDeps & {
    readonly prepareRun: PrepareRun;
    readonly startExecution: StartExecution;
    readonly getExecution: GetSummary;
    readonly refused: NoteRefused;
    readonly onError: (error: unknown) => void;
    /** How callers reach the server; known once it listens. */
    readonly publicUrl: () => string;
  };

export function makeTriggers(deps: TriggersDeps) {
  const webhooks = makeReceiveWebhook(deps);
  // Deliveries have a share of the database's connections, so that any number of them leaves room for reads.
  const receive: typeof webhooks.receive = (...delivery) => asIntake(() => webhooks.receive(...delivery));
  const sweep = (): Promise<void> => asIntake(webhooks.sweep);
  const verbs = {
    create: makeCreateTrigger(deps),
    update: makeUpdateTrigger(deps),
    remove: makeDeleteTrigger(deps),
    get: makeGetTrigger(deps),
    details: makeGetTriggerDetails(deps),
    list: makeListTriggers(deps),
    find: makeFindTrigger(deps),
    findByName: makeFindTriggerByName(deps),
    receive,
    delivery: makeGetDelivery(deps),
    // Whoever knows the token can start the pipeline, so only those get it who may do that anyway.
    tokenOf: (actor: Actor, trigger: Trigger): string | undefined =>
      deps.permits(actor, "core_pipeline_execute", trigger, trigger.pipelineIdentifier)
        ? deps.sealer.open(trigger.tokenSealed, sealedFor(trigger))
        : undefined,
  };
  return {
    ...verbs,
    routes: [
      ...triggerRoutes({ ...verbs, publicUrl: deps.publicUrl }),
      ...ownershipRoutes({ listOwned: makeListOwned(deps), adopt: makeAdopt(deps) }),
    ],
    publicUrl: deps.publicUrl,
    emptyScope,
    sealed: makeSealedTokens(deps),
    /** Whether a trigger was not deleted: its executions get no secrets once it is. */
    isLive: (accountId: Uuid, id: Uuid) => isTriggerLive(deps.db, accountId, id),
    /** Deletes what is old or too much, a bounded part; answers whether nothing is left. */
    retain: makeDeliveryRetention(deps),
    forgetExecutions: deleteOfExecutions,
    /** Processes what was stored but not finished. Run about once a second. */
    sweep,
  };
}

const emptyScope: EmptyScope = async (tx, { accountId, projectId }) =>
  projectId === null ? [] : deleteTriggersOf(tx, accountId, projectId);
