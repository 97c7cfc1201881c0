import type { Actor, RequestFacts } from "./actor.ts";
import type { Problem } from "./problem.ts";
import type { Uuid } from "./ids.ts";
import type { Scope } from "./scope.ts";

/** What an actor was not permitted. */
export type Denied = {
  readonly permission: string;
  readonly scope: Omit<Scope, "accountId">;
  readonly identifier?: string | undefined;
};

/** An attempt that was refused for want of a credential or a permission, as the audit trail keeps it. */
export type RefusedAttempt = {
  readonly accountId: Uuid;
  /** Undefined where nobody was let in. */
  readonly actor?: Actor | undefined;
  /** Who an unknown caller says to be: the id of a token, an address. Never a secret. */
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

/** Takes note of it, at once and without fail: nobody waits for the trail to be told no. */
export type NoteRefused = (attempt: RefusedAttempt) => void;

/** By the request, which lives as long as its answer takes: what hides a thing answers "not found", and knows why. */
const denials = new WeakMap<RequestFacts, Denied>();

export function noteDenied({ request }: Pick<Actor, "request">, denied: Denied): void {
  if (request) denials.set(request, denied);
}

/** What the request was last not permitted; undefined when it was permitted all that it asked for. */
export const deniedTo = (request: RequestFacts | undefined): Denied | undefined => request && denials.get(request);

/** Problems that the trail keeps whatever their status, with who was refused where the request has no actor yet. */
export const refusals = new WeakMap<Problem, { readonly actor: Actor | undefined }>();

export const asRefusal = (problem: Problem, actor?: Actor): Problem => (refusals.set(problem, { actor }), problem);
