/** Checks the actor of a request again after slow work. */
import { holdsAll } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import type { Tx } from "../../platform/db/db.ts";
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
 *
 * With `tx`, it reads in that transaction, and throws `identity.access_changed` if the actor has lost a grant of
 * `actor`: what was checked with those grants is still permitted. Called when the transaction has begun and holds its
 * locks, because it may have waited for a connection or a lock for seconds.
 */
export const createRevalidateActor = (deps: RevalidateDeps) => {
  const selectValid: Readonly<Record<"token" | "session", SelectValid>> = {
    token: (tokens, now, tx = deps.db) => selectValidTokens(tx, tokens, now),
    session: deps.selectValidSessions,
  };
  const findAuthorStates = createFindAuthorStates(deps);
  return async (actor: Actor, tx?: Pick<Tx, "query">): Promise<Actor> => {
    if (actor.kind !== "user" && actor.kind !== "service_account") return actor;
    const { accountId, credential, request } = actor;
    const [author] = await findAuthorStates(accountId, [authorOf(actor)], tx);
    const found = credential && [...(await selectValid[credential.kind]([credential], deps.clock.now(), tx))];
    const current = author?.actor;
    if (!current || !("grants" in current) || found?.length === 0) throw httpProblem("http.no_credential");
    if (tx && !holdsAll(current.grants, actor.grants)) throw problem("identity.access_changed");
    return { ...current, ...(credential && { credential }), ...(request && { request }) };
  };
};

export type RevalidateActor = ReturnType<typeof createRevalidateActor>;
