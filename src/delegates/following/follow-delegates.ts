/** Follows the delegates of an account: each change, as the list shows the delegate. */
import type { Authorize } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { EventSink } from "../../platform/http/response/events.ts";
import { KEEP_ALIVE_MS, retryMs } from "../../platform/pace.ts";
import type { DelegateFeed } from "./delegate-feed.ts";
import type { DelegateFeeds } from "./delegate-feeds.ts";

/** Characters of delegates in one event. */
const EVENT_CHARACTERS = 64 * 1024;

type Deps = { readonly authorize: Authorize; readonly clock: Clock; readonly delegateFeeds: DelegateFeeds };

/** Returns the writer of the stream. Throws `access.not_permitted`. */
export const followDelegates =
  ({ authorize, clock, delegateFeeds }: Deps) =>
  (actor: Actor): ((sink: EventSink) => Promise<void>) => {
    const { accountId } = actor;
    authorize(actor, "core_delegate_view", { accountId });
    return (sink) => delegateFeeds.follow(accountId, (feed) => follow(clock, feed, sink));
  };

export type FollowDelegates = ReturnType<typeof followDelegates>;

async function follow({ elapsed }: Clock, feed: DelegateFeed, sink: EventSink): Promise<void> {
  const { changes } = feed;
  let at = changes.at();
  let lastSent = elapsed();
  await sink.send({ event: "reset", data: "{}", retry: retryMs() });
  while (!sink.closed.aborted) {
    await feed.next(at, Math.max(0, KEEP_ALIVE_MS - (elapsed() - lastSent)), sink.closed);
    const changed = changes.since(at);
    at = changes.at();
    for (const event of eventsOf(changed)) {
      if (sink.closed.aborted) return;
      await sink.send(event);
      lastSent = elapsed();
    }
    if (elapsed() - lastSent < KEEP_ALIVE_MS) continue;
    await sink.ping();
    lastSent = elapsed();
  }
}

/** Events of a bounded size; `reset` if it is not known what has changed. */
function* eventsOf(delegates: readonly string[] | undefined): Generator<{ event: string; data: string }> {
  if (!delegates) {
    yield { event: "reset", data: "{}" };
    return;
  }
  let [content, length]: [string[], number] = [[], 0];
  for (const [nth, json] of delegates.entries()) {
    content.push(json);
    length += json.length;
    if (length < EVENT_CHARACTERS && nth < delegates.length - 1) continue;
    yield { event: "delegates", data: `{"content":[${content.join(",")}]}` };
    [content, length] = [[], 0];
  }
}
