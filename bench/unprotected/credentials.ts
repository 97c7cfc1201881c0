/**
 * Replaces src/identity/authentication/credentials.ts in a benchmark. The original checks the first token; its actor is
 * the actor of all later requests. It is a real user, because a saved pipeline refers to its author.
 */
import type { Actor } from "../../src/core/actor.ts";
import {
  createCredentials as createOriginal,
  type CredentialDeps,
  type Credentials,
} from "../../src/identity/authentication/credentials.ts";

export function createCredentials(deps: CredentialDeps): Credentials {
  const original = createOriginal(deps);
  let first: Actor | undefined;
  return {
    authenticate: (token) => first ?? Promise.resolve(original.authenticate(token)).then((actor) => (first ??= actor)),
    watch: () => () => undefined,
    onEnded: () => undefined,
    notifyCredentialsEnded: () => undefined,
    checkWatched: async () => undefined,
    stop: original.stop,
  };
}
