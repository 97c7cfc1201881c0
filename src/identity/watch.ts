/**
 * Ends what outlives its request. A stream is open for longer than an answer of `authenticate` is kept, so its
 * credential is looked at again: at once when a replica says that one has ended, and on its own twice a second
 * (invariant 9), all of them by one statement.
 */
import type { Clock } from "../core/clock.ts";
import type { Credential } from "../core/credential.ts";
import type { Uuid } from "../core/ids.ts";
import { untilQuiet } from "../platform/until-quiet.ts";

/** Calls `onEnd` once, within a second after the credential stops being valid; answers how to stop watching. */
export type Watch = (credential: Credential, onEnd: () => void) => () => void;

/** Those of the credentials that are valid at this moment. */
export type StillStanding = (
  credentials: readonly { readonly accountId: Uuid; readonly id: Uuid }[],
  now: number,
) => Promise<Iterable<Uuid>>;

export type Watching = {
  readonly watch: Watch;
  /** Looks at all of them; a look that is under way when something has changed is followed by another. */
  readonly look: () => Promise<void>;
};

type Watched = { readonly credential: Credential; readonly onEnd: () => void };

export function createWatching(deps: {
  readonly clock: Clock;
  readonly standing: Readonly<Record<Credential["kind"], StillStanding>>;
  readonly onError: (error: unknown) => void;
}): Watching {
  const watched = new Set<Watched>();

  async function lookAt(looked: readonly Watched[]): Promise<void> {
    for (const kind of ["token", "session"] as const) {
      const ours = looked.filter(({ credential }) => credential.kind === kind);
      if (ours.length === 0) continue;
      const asked = new Map(ours.map(({ credential }) => [credential.id, credential]));
      const valid = new Set(await deps.standing[kind]([...asked.values()], deps.clock.now()));
      for (const one of ours) if (!valid.has(one.credential.id) && watched.delete(one)) one.onEnd();
    }
  }

  return {
    watch(credential, onEnd) {
      const one = { credential, onEnd };
      watched.add(one);
      // The answer that let it in may be a second old, and nobody says twice that it has ended.
      lookAt([one]).catch(deps.onError);
      return () => void watched.delete(one);
    },
    // Who comes later is looked at later: the answer is about these.
    look: untilQuiet(() => lookAt([...watched])),
  };
}
