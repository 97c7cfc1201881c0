/** Follows the deliveries of a trigger: the newest ones, then each that comes or changes. */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import { KEEP_ALIVE_MS, retryMs } from "../../platform/pace.ts";
import type { GetTrigger } from "../read.ts";
import { deliveryRow } from "./wire.ts";
import type { ListedDelivery } from "./delivery.ts";
import type { createDeliveryFeeds, DeliveryFeed, Reading } from "./feeds.ts";
import type { TriggerName } from "./read.ts";

type Deps = {
  readonly clock: Pick<Clock, "elapsed">;
  readonly getTrigger: GetTrigger;
  readonly feeds: ReturnType<typeof createDeliveryFeeds>;
};

/** Throws `pipeline.not_found`, `trigger.not_found`. */
export const followDeliveries =
  (deps: Deps) =>
  async (actor: Actor, { within, identifier }: TriggerName): Promise<(sink: EventSink) => Promise<void>> => {
    const { accountId, id: triggerId } = await deps.getTrigger(actor, within, identifier);
    return (sink) => deps.feeds.follow({ accountId, triggerId }, (feed) => follow(deps.clock, feed, sink));
  };

export type FollowDeliveries = ReturnType<typeof followDeliveries>;

async function follow({ elapsed }: Deps["clock"], feed: DeliveryFeed, sink: EventSink): Promise<void> {
  let known: ReadonlyMap<string, string> | undefined;
  let [nth, lastSent]: [number, number] = [0, elapsed()];
  while (!sink.closed.aborted) {
    await feed.next(nth, Math.max(0, KEEP_ALIVE_MS - (elapsed() - lastSent)), sink.closed);
    const reading = feed.reading();
    if (reading && reading.nth > nth) {
      nth = reading.nth;
      if (!reading.isLive) return;
      const event = eventOf(reading, known);
      if (event) {
        await sink.send({ ...event, ...(known ? {} : { retry: retryMs() }) });
        lastSent = elapsed();
      }
      known = textsOf(reading.newest);
    }
    if (elapsed() - lastSent >= KEEP_ALIVE_MS && !sink.closed.aborted) {
      await sink.ping();
      lastSent = elapsed();
    }
  }
}

const textOf = (delivery: ListedDelivery): string => JSON.stringify(deliveryRow(delivery));

const textsOf = (deliveries: readonly ListedDelivery[]): ReadonlyMap<string, string> =>
  new Map(deliveries.map((one) => [one.id, textOf(one)]));

/** `known`: what the follower was sent of the newest deliveries; undefined at the beginning. */
function eventOf({ newest, changed }: Reading, known: ReadonlyMap<string, string> | undefined) {
  const rows = newest.map((one) => [one.id, textOf(one)] as const);
  const event = (name: "snapshot" | "deliveries", texts: readonly string[]) => ({
    event: name,
    data: `{"content":[${texts.join(",")}]}`,
  });
  // More have come than one reading shows, or those that the follower knows were deleted.
  const isGap = known !== undefined && known.size > 0 && !rows.some(([id]) => known.has(id));
  if (!known || isGap)
    return event(
      "snapshot",
      rows.map(([, text]) => text),
    );
  const fresh = rows.filter(([id, text]) => known.get(id) !== text).map(([, text]) => text);
  const all = [...fresh, ...changed.map(textOf)];
  return all.length === 0 ? undefined : event("deliveries", all);
}
