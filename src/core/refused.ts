import type { Actor, RequestFacts } from "./actor.ts";
import type { Uuid } from "./ids.ts";
import type { Scope } from "./scope.ts";

/** A permission that an actor lacked. */
export type Denied = {
  readonly permission: string;
  readonly scope: Omit<Scope, "accountId">;
  readonly identifier?: string | undefined;
};

/** Makes a problem a refusal for the audit trail, whatever its status. */
export type Refusal = {
  /** The missing permission, if that was the reason. */
  readonly denied?: Denied;
  /** The refused actor, if the request has none yet. */
  readonly actor?: Actor;
};

/** An audit record of an attempt that was refused because a credential or a permission was missing. */
export type RefusedAttempt = {
  readonly accountId: Uuid;
  /** Undefined if authentication failed. */
  readonly actor?: Actor | undefined;
  /** The identity that an unauthenticated caller claims: the id of a token, an address. Never a secret. */
  readonly claims?: string | undefined;
  readonly operation: string;
  /** The problem's code and HTTP status. */
  readonly code: string;
  readonly status: number;
  readonly permission?: string | undefined;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly scope: Omit<Scope, "accountId">;
  readonly request?: RequestFacts | undefined;
};

/** Records a refused attempt. Synchronous and never throws, so that the response does not wait for the audit trail. */
export type NoteRefused = (attempt: RefusedAttempt) => void;
