/**
 * Credentials while they are used: who came in with one, and the end of what is open with it. What has ended is
 * forgotten here at once after the commit, on other replicas by NOTIFY; behind both stands a second (invariant 9).
 */
import type { GrantsOf, GrantsOfAll } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { createAuthenticating, type Authenticate } from "./authenticate.ts";
import { standingTokens } from "./store/standing.ts";
import type { Actor } from "../core/actor.ts";
import { createWatchingGrants } from "./watch-grants.ts";
import { createWatching, type StillStanding } from "./watch.ts";

const CHANNEL = "railhead_credentials_ended";

export type CredentialDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly grantsOf: GrantsOf;
  readonly grantsOfAll: GrantsOfAll;
  /** Calls back whenever somebody's grants may be others. */
  readonly onAccessChange: (listener: () => void) => void;
  /** Which sessions of the web UI hold: they are kept further up. */
  readonly standingSessions: StillStanding;
  readonly onError: (error: unknown) => void;
};

/**
 * Calls `onEnd` within a second after what the actor came in with stops being valid, or they lose a permission that
 * they had; answers how to stop watching.
 */
export type WatchActor = (actor: Actor, onEnd: () => void) => () => void;

export type Credentials = {
  readonly authenticate: Authenticate;
  readonly watch: WatchActor;
  /** Calls back on every replica once some have ended, for whoever keeps others than tokens. */
  readonly onEnded: (listener: () => void) => void;
  /** To be called where credentials end: says so on every replica once the transaction is committed. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
  /** Looks at everything that is open; to be called twice a second. */
  readonly look: () => Promise<void>;
  readonly stop: () => void;
};

export function createCredentials(deps: CredentialDeps): Credentials {
  const { db, onError } = deps;
  const { authenticate, forget } = createAuthenticating(deps);
  const grants = createWatchingGrants(deps);
  const standing = createWatching({
    ...deps,
    standing: { token: (tokens, now) => standingTokens(db, tokens, now), session: deps.standingSessions },
  });
  const look = async (): Promise<void> => {
    await Promise.all([standing.look(), grants.look()]);
  };
  const watch: WatchActor = (actor, onEnd) => {
    const leave = grants.watch(actor, onEnd);
    const release = actor.credential ? standing.watch(actor.credential, onEnd) : () => undefined;
    return () => {
      leave();
      release();
    };
  };
  deps.onAccessChange(() => void grants.look().catch(onError));
  const listeners = new Set<() => void>([forget]);
  const someEnded = (): void => {
    for (const listener of listeners) listener();
    look().catch(onError);
  };
  const stop = db.listen(CHANNEL, someEnded);
  return {
    authenticate,
    watch,
    onEnded: (listener) => void listeners.add(listener),
    notifyCredentialsEnded: (tx) =>
      tx.afterCommit(() => {
        someEnded();
        db.notify(CHANNEL, "").catch(onError);
      }),
    look,
    stop,
  };
}
