/**
 * Ends what outlives its request when access is lost. What a stream shows was allowed when it began; from then on its
 * actor has to hold all that they held at that moment. Whoever gained something reads on. Whoever lost something that had nothing to
 * do with the stream is cut off, too, and let in again when they come back: so no stream has to say what it was allowed by.
 *
 * Looked at as soon as a replica says that grants have changed, and twice a second (invariant 9), those of an account by one
 * statement for people and one for service accounts.
 */
import { holdsAll, type GrantsOfAll, type Principal } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Grants } from "../core/grants.ts";
import type { Uuid } from "../core/ids.ts";
import { untilQuiet } from "../platform/until-quiet.ts";

type Holder = Extract<Actor, { readonly kind: "user" | "service_account" }>;

/** `last`: the grants that were found to be enough. */
type Watched = { readonly actor: Holder; last: Grants; readonly onEnd: () => void };

const principalOf = ({ kind, id }: Holder): Principal => ({ type: kind === "user" ? "USER" : "SERVICE_ACCOUNT", id });

export type WatchingGrants = {
  /** Calls `onEnd` once, within a second after the actor has lost a permission; answers how to stop watching. */
  readonly watch: (actor: Actor, onEnd: () => void) => () => void;
  readonly look: () => Promise<void>;
};

export function createWatchingGrants(deps: {
  readonly grantsOfAll: GrantsOfAll;
  readonly onError: (error: unknown) => void;
}): WatchingGrants {
  const watched = new Set<Watched>();

  async function lookAt(looked: readonly Watched[]): Promise<void> {
    for (const [accountId, ours] of Map.groupBy(looked, ({ actor }) => actor.accountId)) {
      const holders = new Map(ours.map(({ actor }) => [actor.id, principalOf(actor)]));
      settle(ours, await deps.grantsOfAll(accountId, [...holders.values()]));
    }
  }

  function settle(looked: readonly Watched[], now: ReadonlyMap<Uuid, Grants>): void {
    for (const one of looked) {
      const grants = now.get(one.actor.id) ?? [];
      // While nothing has changed, the very same list is kept and given.
      if (grants === one.last) continue;
      if (holdsAll(grants, one.actor.grants)) one.last = grants;
      else if (watched.delete(one)) one.onEnd();
    }
  }

  return {
    watch(actor, onEnd) {
      if (actor.kind !== "user" && actor.kind !== "service_account") return () => undefined;
      const one = { actor, last: actor.grants, onEnd };
      watched.add(one);
      // What changed between the look at the grants and now was told to nobody.
      lookAt([one]).catch(deps.onError);
      return () => void watched.delete(one);
    },
    look: untilQuiet(() => lookAt([...watched])),
  };
}
