import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import { atMostEvery } from "../platform/jobs/at-most-every.ts";
import { FAILURE_RETENTION_MS } from "./password/back-off.ts";
import type { Lifetimes } from "./session/session.ts";
import { deleteOldFailures } from "./store/failures.ts";
import { deleteUsedStates } from "./store/identities.ts";
import { deleteExpiredInvitations } from "./store/invitations.ts";
import { deleteExpiredSessions } from "./store/sessions.ts";

const SWEEP_MS = 60_000;

type Deps = { readonly db: Db; readonly clock: Clock; readonly lifetimes: Lifetimes };

/** Deletes expired sessions and invitations, used sign-in states and old failures, at most once a minute. */
export const createSweep = ({ db, clock, lifetimes }: Deps): (() => Promise<void>) =>
  atMostEvery(SWEEP_MS, clock, async () => {
    const now = clock.now();
    await deleteExpiredSessions(db, { now, seenBefore: now - lifetimes.idleMs });
    await deleteUsedStates(db, now);
    await deleteExpiredInvitations(db, now);
    await deleteOldFailures(db, now - FAILURE_RETENTION_MS);
  });
