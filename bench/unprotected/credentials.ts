/**
 * In the place of src/identity/authentication/credentials.ts, for a benchmark: each token counts as the first valid one that came.
 * That one is a real user's, because saving a pipeline asks the database for its author.
 */
import type { Actor } from "../../src/core/actor.ts";
import {
  createCredentials as makeReal,
  type CredentialDeps,
  type Credentials,
} from "../../src/identity/authentication/credentials.ts";

export function createCredentials(deps: CredentialDeps): Credentials {
  const real = makeReal(deps);
  let first: Actor | undefined;
  return {
    authenticate: (token) => first ?? Promise.resolve(real.authenticate(token)).then((actor) => (first ??= actor)),
    watch: () => () => undefined,
    onEnded: () => undefined,
    notifyCredentialsEnded: () => undefined,
    checkWatched: async () => undefined,
    stop: real.stop,
  };
}
