import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { GetTrigger } from "../read.ts";
import type { PipelineKey } from "../read-document.ts";
import { selectDeliveries, selectStoredDelivery } from "../store/deliveries.ts";
import type { DeliveryPage, StoredDelivery } from "./delivery.ts";

type ReadDeps = { readonly db: Pick<Db, "query">; readonly getTrigger: GetTrigger };

/** Which trigger; for who may view its pipeline. */
export type TriggerName = { readonly within: PipelineKey; readonly identifier: string };

/** The deliveries of a trigger, newest first. Throws `pipeline.not_found`, `trigger.not_found`. */
export const listDeliveries =
  ({ db, getTrigger }: ReadDeps) =>
  async (
    actor: Actor,
    { within, identifier }: TriggerName,
    { before, size }: { readonly before: Uuid | undefined; readonly size: number },
  ): Promise<DeliveryPage> => {
    const { accountId, id: triggerId } = await getTrigger(actor, within, identifier);
    const found = await selectDeliveries(db, { accountId, triggerId }, { before, limit: size + 1 });
    const items = found.slice(0, size);
    return { items, next: found.length > size ? items.at(-1)?.id : undefined };
  };

export type ListDeliveries = ReturnType<typeof listDeliveries>;

/** Of a payload, in an answer. */
const MOST_CHARACTERS = 64 * 1024;

/** One delivery. Throws `pipeline.not_found`, `trigger.not_found`, `trigger.no_delivery`. */
export const getStoredDelivery =
  ({ db, getTrigger }: ReadDeps) =>
  async (actor: Actor, { within, identifier }: TriggerName, correlationId: string): Promise<StoredDelivery> => {
    const { accountId, id: triggerId } = await getTrigger(actor, within, identifier);
    const asked = { correlationId, mostCharacters: MOST_CHARACTERS };
    const found = await selectStoredDelivery(db, { accountId, triggerId }, asked);
    if (!found) throw problem("trigger.no_delivery", [correlationId.slice(0, 64)]);
    return found;
  };

export type GetStoredDelivery = ReturnType<typeof getStoredDelivery>;
