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

/** Who acts. Every verb takes one; the audit trail keeps it, with the request that it came with, if it came with one. */
export type Actor = { readonly request?: RequestFacts } & Who;

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
  | { readonly kind: "trigger"; readonly accountId: Uuid; readonly id: Uuid; readonly name: string }
  | { readonly kind: "system"; readonly accountId: Uuid };

/** The id to keep beside what the actor made; null for the system. */
export const actorId = (actor: Actor): Uuid | null => (actor.kind === "system" ? null : actor.id);
