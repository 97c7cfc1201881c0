/**
 * Credentials in use: authentication, and the end of streams opened with a credential. An ended credential is removed
 * from the cache after the commit, on other replicas by NOTIFY. Without the notification it takes at most a second
 * (invariant 9).
 */
import type { GrantsOf, GrantsOfAll } from "../../access/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { createAuthenticator, type Authenticate } from "./authenticate.ts";
import { selectValidTokens } from "../store/credentials.ts";
import type { Actor } from "../../core/actor.ts";
import { createGrantWatcher } from "./grant-watcher.ts";
import { createCredentialWatcher, type SelectValid } from "./credential-watcher.ts";

const CHANNEL = "railhead_credentials_ended";

export type CredentialDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly grantsOf: GrantsOf;
  readonly grantsOfAll: GrantsOfAll;
  /** Calls the listener when grants may have changed. */
  readonly onAccessChange: (listener: () => void) => void;
  /** Selects valid sessions. The login slice stores them. */
  readonly selectValidSessions: SelectValid;
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
  readonly checkWatched: () => Promise<void>;
  readonly stop: () => void;
};

export function createCredentials(deps: CredentialDeps): Credentials {
  const { db, onError } = deps;
  const { authenticate, clearCache } = createAuthenticator(deps);
  const grantWatcher = createGrantWatcher(deps);
  const credentialWatcher = createCredentialWatcher({
    ...deps,
    selectValid: { token: (tokens, now) => selectValidTokens(db, tokens, now), session: deps.selectValidSessions },
  });
  const checkWatched = async (): Promise<void> => {
    await Promise.all([credentialWatcher.check(), grantWatcher.check()]);
  };
  const watch: WatchActor = (actor, onEnd) => {
    const stopGrants = grantWatcher.watch(actor, onEnd);
    const stopCredential = actor.credential ? credentialWatcher.watch(actor.credential, onEnd) : () => undefined;
    return () => {
      stopGrants();
      stopCredential();
    };
  };
  deps.onAccessChange(() => void grantWatcher.check().catch(onError));
  const listeners = new Set<() => void>([clearCache]);
  const onSomeEnded = (): void => {
    for (const listener of listeners) listener();
    checkWatched().catch(onError);
  };
  const stop = db.listen(CHANNEL, onSomeEnded);
  return {
    authenticate,
    watch,
    onEnded: (listener) => void listeners.add(listener),
    notifyCredentialsEnded: (tx) =>
      tx.afterCommit(() => {
        onSomeEnded();
        db.notify(CHANNEL, "").catch(onError);
      }),
    checkWatched,
    stop,
  };
}
