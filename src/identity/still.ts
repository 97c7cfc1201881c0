/** Checks the actor of a request again after slow work. */
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { problem as httpProblem } from "../platform/http/problems.ts";
import type { Db } from "../platform/db/db.ts";
import { authorOf, type StandingOf } from "./author.ts";
import { standingTokens } from "./store/standing.ts";
import type { StillStanding } from "./watch.ts";
export type StillDeps = {
  readonly db: Pick<Db, "query">;
  readonly clock: Clock;
  readonly standingOf: StandingOf;
  readonly standingSessions: StillStanding;
};

/**
 * Returns the actor with current grants, at most a second old. Throws `http.no_credential` if the account is not active
 * any more or the credential has ended. Returns actors without an account unchanged.
 */
export const createStillActor = ({ db, clock, standingOf, standingSessions }: StillDeps) => {
  const valid = {
    token: (asked: Parameters<StillStanding>[0], now: number) => standingTokens(db, asked, now),
    session: standingSessions,
  };
  return async (actor: Actor): Promise<Actor> => {
    if (actor.kind !== "user" && actor.kind !== "service_account") return actor;
    const { accountId, credential, request } = actor;
    const [standing] = await standingOf(accountId, [authorOf(actor)]);
    const found = credential && [...(await valid[credential.kind]([credential], clock.now()))];
    if (!standing?.actor || found?.length === 0) throw httpProblem("http.no_credential");
    return { ...standing.actor, ...(credential && { credential }), ...(request && { request }) };
  };
};

export type StillActor = ReturnType<typeof createStillActor>;
