/**
 * Ends streams when access is lost. A stream was authorized when it began; from then on its actor has to keep all
 * permissions of that moment. New permissions have no effect. A lost permission ends all streams of the actor, related
 * or not, and an authorized client reconnects: so no stream has to record what authorized it. Checked when a replica
 * announces changed grants, and twice a second (invariant 9), with one statement per account for users and one for
 * service accounts.
 */
import { holdsAll, type GrantsOfAll, type Principal } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import { coalesceRuns } from "../../platform/coalesce-runs.ts";

type Holder = Extract<Actor, { readonly kind: "user" | "service_account" }>;

/** `last` has the grants of the last successful check. */
type Watched = { readonly actor: Holder; last: Grants; readonly onEnd: () => void };

const principalOf = ({ kind, id }: Holder): Principal => ({ type: kind === "user" ? "USER" : "SERVICE_ACCOUNT", id });

export type GrantWatcher = {
  /**
   * Calls `onEnd` once, within a second after the actor has lost a permission. Returns a function that stops watching.
   */
  readonly watch: (actor: Actor, onEnd: () => void) => () => void;
  readonly check: () => Promise<void>;
};

export function createGrantWatcher(deps: {
  readonly grantsOfAll: GrantsOfAll;
  readonly onError: (error: unknown) => void;
}): GrantWatcher {
  const watched = new Set<Watched>();

  async function checkSome(some: readonly Watched[]): Promise<void> {
    for (const [accountId, ours] of Map.groupBy(some, ({ actor }) => actor.accountId)) {
      const holders = new Map(ours.map(({ actor }) => [actor.id, principalOf(actor)]));
      endOutdated(ours, await deps.grantsOfAll(accountId, [...holders.values()]));
    }
  }

  function endOutdated(some: readonly Watched[], now: ReadonlyMap<Uuid, Grants>): void {
    const isKept = rememberPairs(holdsAll);
    for (const one of some) {
      const grants = now.get(one.actor.id) ?? [];
      // The same list object means that nothing has changed.
      if (grants === one.last) continue;
      if (isKept(grants, one.actor.grants)) one.last = grants;
      else if (watched.delete(one)) one.onEnd();
    }
  }

  return {
    watch(actor, onEnd) {
      if (actor.kind !== "user" && actor.kind !== "service_account") return () => undefined;
      const one = { actor, last: actor.grants, onEnd };
      watched.add(one);
      // A change between the request's check and now has been announced already.
      checkSome([one]).catch(deps.onError);
      return () => void watched.delete(one);
    },
    check: coalesceRuns(() => checkSome([...watched])),
  };
}

/** A caller may have many streams with the same grants: each pair is compared once. */
function rememberPairs(compare: (now: Grants, before: Grants) => boolean): (now: Grants, before: Grants) => boolean {
  const known = new Map<Grants, Map<Grants, boolean>>();
  return (now, before) => {
    const results = known.get(now) ?? new Map<Grants, boolean>();
    known.set(now, results);
    const result = results.get(before) ?? compare(now, before);
    results.set(before, result);
    return result;
  };
}
