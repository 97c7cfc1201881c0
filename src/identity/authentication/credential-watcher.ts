/**
 * Ends streams when their credential ends. A stream lives longer than a cached authentication, so its credential is
 * checked again: at once when a replica announces an end, and twice a second (invariant 9), all with one statement.
 */
import type { Clock } from "../../core/clock.ts";
import type { Credential } from "../../core/credential.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { coalesceRuns } from "../../platform/coalesce-runs.ts";

/**
 * Calls `onEnd` once, within a second after the credential stops being valid. Returns a function that stops watching.
 */
export type Watch = (credential: Credential, onEnd: () => void) => () => void;

/** Selects those of the credentials that are valid at `now`, in `tx` if it is given. */
export type SelectValid = (
  credentials: readonly { readonly accountId: Uuid; readonly id: Uuid }[],
  now: number,
  tx?: Pick<Tx, "query">,
) => Promise<Iterable<Uuid>>;

export type CredentialWatcher = {
  readonly watch: Watch;
  /** Checks all watched credentials. A call during a check starts another one afterwards. */
  readonly check: () => Promise<void>;
};

type Watched = { readonly credential: Credential; readonly onEnd: () => void };

export function createCredentialWatcher(deps: {
  readonly clock: Clock;
  readonly selectValid: Readonly<Record<Credential["kind"], SelectValid>>;
  readonly onError: (error: unknown) => void;
}): CredentialWatcher {
  const watched = new Set<Watched>();

  async function checkSome(some: readonly Watched[]): Promise<void> {
    for (const kind of ["token", "session"] as const) {
      const ours = some.filter(({ credential }) => credential.kind === kind);
      if (ours.length === 0) continue;
      const credentials = new Map(ours.map(({ credential }) => [credential.id, credential]));
      const valid = new Set(await deps.selectValid[kind]([...credentials.values()], deps.clock.now()));
      for (const one of ours) if (!valid.has(one.credential.id) && watched.delete(one)) one.onEnd();
    }
  }

  return {
    watch(credential, onEnd) {
      const one = { credential, onEnd };
      watched.add(one);
      // The authentication may be a second old, and the end of the credential is announced only once.
      checkSome([one]).catch(deps.onError);
      return () => void watched.delete(one);
    },
    // Credentials that are added later are checked later.
    check: coalesceRuns(() => checkSome([...watched])),
  };
}
