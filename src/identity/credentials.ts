/**
 * Credentials in use: authentication, and the end of streams opened with a credential. An ended credential is removed
 * from the cache after the commit, on other replicas by NOTIFY. Without the notification it takes at most a second
 * (invariant 9).
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
  /** Calls the listener when grants may have changed. */
  readonly onAccessChange: (listener: () => void) => void;
  /** Selects valid sessions. The login slice stores them. */
  readonly standingSessions: StillStanding;
  readonly onError: (error: unknown) => void;
};

/**
 * Calls `onEnd` within a second after the actor's credential ends or the actor loses a permission. Returns a function
 * that stops watching.
 */
export type WatchActor = (actor: Actor, onEnd: () => void) => () => void;

export type Credentials = {
  readonly authenticate: Authenticate;
  readonly watch: WatchActor;
  /**
   * Calls the listener on every replica after credentials have ended, for slices with credentials other than tokens.
   */
  readonly onEnded: (listener: () => void) => void;
  /** Notifies every replica after the commit. Called in the transaction that ends credentials. */
  readonly notifyCredentialsEnded: (tx: Tx) => void;
  /** Checks all watched actors. Called twice a second. */
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
