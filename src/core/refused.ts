import type { Actor, RequestFacts } from "./actor.ts";
import type { Problem } from "./problem.ts";
import type { Uuid } from "./ids.ts";
import type { Scope } from "./scope.ts";

/** A permission that an actor lacked. */
export type Denied = {
  readonly permission: string;
  readonly scope: Omit<Scope, "accountId">;
  readonly identifier?: string | undefined;
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

/** The last denial of each request. Operations that hide a resource answer "not found"; the audit trail gets the reason here. */
const denials = new WeakMap<RequestFacts, Denied>();

export function noteDenied({ request }: Pick<Actor, "request">, denied: Denied): void {
  if (request) denials.set(request, denied);
}

/** The last permission that the request lacked; undefined if it lacked none. */
export const deniedTo = (request: RequestFacts | undefined): Denied | undefined => request && denials.get(request);

/** Problems that the audit trail records whatever their status, with the refused actor if the request has none yet. */
export const refusals = new WeakMap<Problem, { readonly actor: Actor | undefined }>();

/** Marks a problem as a refusal for the audit trail. */
export const asRefusal = (problem: Problem, actor?: Actor): Problem => (refusals.set(problem, { actor }), problem);
