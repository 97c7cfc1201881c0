/**
 * Checks the actor of a request again after slow work. The request gets:
 * - 401 `http.no_credential` if the account is deactivated or deleted, or the token or session has ended;
 * - 403 `identity.access_changed` if a check that the request has passed fails before a commit;
 * - the refusal of the operation, such as 403 `access.not_permitted`, if it repeats its check with the returned actor.
 */
import { actorId, type Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { BeforeCommit, PassesWith } from "../../platform/db/pool/budget.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import { authorOf } from "./author.ts";
import { createFindAuthorStates, type AuthorStatesDeps } from "./author-states.ts";
import { selectValidTokens } from "../store/credentials.ts";
import type { SelectValid } from "./credential-watcher.ts";
import { problem } from "../problems.ts";

export type RevalidateDeps = AuthorStatesDeps & {
  readonly clock: Clock;
  readonly selectValidSessions: SelectValid;
};

/**
 * Returns the actor with current grants, at most a second old. Throws `http.no_credential` if the account is not active
 * any more or the credential has ended. Returns actors without an account unchanged.
 */
export const createRevalidateActor = (deps: RevalidateDeps) => {
  const selectValid: Readonly<Record<"token" | "session", SelectValid>> = {
    token: (tokens, now) => selectValidTokens(deps.db, tokens, now),
    session: deps.selectValidSessions,
  };
  const findAuthorStates = createFindAuthorStates(deps);
  return async (actor: Actor): Promise<Actor> => {
    if (actor.kind !== "user" && actor.kind !== "service_account") return actor;
    const { accountId, credential, request } = actor;
    const [author] = await findAuthorStates(accountId, [authorOf(actor)]);
    const found = credential && [...(await selectValid[credential.kind]([credential], deps.clock.now()))];
    const current = author?.actor;
    if (!current || !("grants" in current) || found?.length === 0) throw httpProblem("http.no_credential");
    return { ...current, ...(credential && { credential }), ...(request && { request }) };
  };
};

/** Called after slow work and before the change. Returns the actor for another check of its permission. */
export type RevalidateActor = ReturnType<typeof createRevalidateActor>;

/** A request that takes less time needs no check: permissions may be a second old. */
const CHECK_AFTER_MS = 500;

/**
 * Begins a request. The result is called before each commit of the request and rejects if the actor has lost access
 * since: a transaction may wait for a connection or a lock for seconds. It throws what RevalidateActor throws, and
 * `identity.access_changed` if a check of permissions that has passed in the request would fail now. It reads on
 * another connection, because the transaction itself may change the actor's grants or end its credential.
 */
export const createCheckBeforeCommit =
  ({ clock, revalidateActor }: Pick<RevalidateDeps, "clock"> & { readonly revalidateActor: RevalidateActor }) =>
  (actor: Actor): BeforeCommit => {
    const since = clock.elapsed();
    const checks = new Map<unknown, PassesWith>();
    const checkAgain = async (): Promise<void> => {
      if (clock.elapsed() - since < CHECK_AFTER_MS || !("grants" in actor)) return;
      const current = await revalidateActor(actor);
      if (!("grants" in current)) return;
      for (const passes of checks.values()) if (!passes(current.grants)) throw problem("identity.access_changed");
    };
    return Object.assign(checkAgain, {
      // A request also checks the principals of executions. The first of equal checks had the grants of the beginning.
      recordCheck: (who: Actor, key: unknown, passes: PassesWith) => {
        if (who.accountId !== actor.accountId || actorId(who) !== actorId(actor) || checks.has(key)) return;
        checks.set(key, passes);
      },
    });
  };
