import type { Credential } from "./credential.ts";
import type { Grants } from "./grants.ts";
import type { Uuid } from "./ids.ts";

/** What the audit trail records of a request. Contains no secrets. */
export type RequestFacts = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly remoteAddress: string;
  readonly correlationId: string;
};

/**
 * The principal that acts, a parameter of every operation. The audit trail records it, with its request if it has one.
 * A stream ends when the actor's `credential` ends.
 */
export type Actor = { readonly request?: RequestFacts; readonly credential?: Credential } & Principal;

type Principal =
  | {
      readonly kind: "user";
      readonly accountId: Uuid;
      readonly id: Uuid;
      readonly name: string;
      readonly email: string;
      /** The permissions from role assignments when the credential was last read, at most a second ago. */
      readonly grants: Grants;
    }
  | {
      readonly kind: "service_account";
      readonly accountId: Uuid;
      readonly id: Uuid;
      readonly identifier: string;
      readonly name: string;
      readonly email: string;
      readonly grants: Grants;
    }
  | { readonly kind: "delegate"; readonly accountId: Uuid; readonly id: Uuid; readonly name: string }
  | {
      readonly kind: "trigger";
      readonly accountId: Uuid;
      readonly id: Uuid;
      readonly name: string;
      /** The permissions that running its own pipeline needs. */
      readonly grants: Grants;
    }
  | { readonly kind: "system"; readonly accountId: Uuid };

/** The id to store with a row that the actor creates; null for the system. */
export const actorId = (actor: Actor): Uuid | null => (actor.kind === "system" ? null : actor.id);

/** The address of a user or a service account; null for other actors. */
export const actorEmail = (actor: Actor): string | null =>
  actor.kind === "user" || actor.kind === "service_account" ? actor.email : null;
