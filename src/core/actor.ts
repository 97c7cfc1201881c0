import type { Credential } from "./credential.ts";
import type { Grants } from "./grants.ts";
import type { Uuid } from "./ids.ts";

/** The request that an actor came with, as far as the audit trail keeps it: nothing that may be secret. */
export type RequestFacts = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly remoteAddress: string;
  readonly correlationId: string;
};

/**
 * Who acts. Every verb takes one; the audit trail keeps it, with the request that it came with, if it came with one.
 * `credential` is what somebody came in with: a stream ends with it.
 */
export type Actor = { readonly request?: RequestFacts; readonly credential?: Credential } & Who;

type Who =
  | {
      readonly kind: "user";
      readonly accountId: Uuid;
      readonly id: Uuid;
      readonly name: string;
      readonly email: string;
      /** What the role assignments gave when the credential was looked at, at most a second ago. */
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
      /** What it takes to run its own pipeline. */
      readonly grants: Grants;
    }
  | { readonly kind: "system"; readonly accountId: Uuid };

/** The id to keep beside what the actor made; null for the system. */
export const actorId = (actor: Actor): Uuid | null => (actor.kind === "system" ? null : actor.id);

/** The address of a person or a service account; null for everybody else. */
export const emailOf = (actor: Actor): string | null =>
  actor.kind === "user" || actor.kind === "service_account" ? actor.email : null;
