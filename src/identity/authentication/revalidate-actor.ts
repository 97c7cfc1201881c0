/** Checks the actor of a request again after slow work. */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { problem as httpProblem } from "../../platform/http/problems.ts";
import type { Db } from "../../platform/db/db.ts";
import { authorOf, type FindAuthorStates } from "./author.ts";
import { selectValidTokens } from "../store/credentials.ts";
import type { SelectValid } from "./credential-watcher.ts";
export type RevalidateDeps = {
  readonly db: Pick<Db, "query">;
  readonly clock: Clock;
  readonly findAuthorStates: FindAuthorStates;
  readonly selectValidSessions: SelectValid;
};

/**
 * Returns the actor with current grants, at most a second old. Throws `http.no_credential` if the account is not active
 * any more or the credential has ended. Returns actors without an account unchanged.
 */
export const createRevalidateActor = ({ db, clock, findAuthorStates, selectValidSessions }: RevalidateDeps) => {
  const valid = {
    token: (tokens: Parameters<SelectValid>[0], now: number) => selectValidTokens(db, tokens, now),
    session: selectValidSessions,
  };
  return async (actor: Actor): Promise<Actor> => {
    if (actor.kind !== "user" && actor.kind !== "service_account") return actor;
    const { accountId, credential, request } = actor;
    const [author] = await findAuthorStates(accountId, [authorOf(actor)]);
    const found = credential && [...(await valid[credential.kind]([credential], clock.now()))];
    if (!author?.actor || found?.length === 0) throw httpProblem("http.no_credential");
    return { ...author.actor, ...(credential && { credential }), ...(request && { request }) };
  };
};

export type RevalidateActor = ReturnType<typeof createRevalidateActor>;
