import type { Actor, RequestFacts } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import type { AuditView, Difference } from "./difference/difference.ts";

/** One change, as its operation describes it. */
export type AuditedChange = {
  /** `noun.verb`, the operation of the route. */
  readonly operation: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly scope: Omit<Scope, "accountId">;
  /** Why it was refused; undefined for a successful change. */
  readonly refusal?: Refusal | undefined;
  /** The resource before and after the change; undefined if it did not or does not exist. Contains no secret. */
  readonly before?: AuditView | undefined;
  readonly after?: AuditView | undefined;
};

/** A refused attempt, or several equal ones. */
export type Refusal = {
  /** The problem's code and its HTTP status. */
  readonly code: string;
  readonly status: number;
  /** The missing permission, if that was the reason. */
  readonly permission?: string | null | undefined;
  readonly attempts?: number | undefined;
};

export type Outcome = "success" | "refused";

/** One change or one refusal, as stored in the trail. */
export type AuditEntry = Omit<AuditedChange, "scope" | "before" | "after" | "refusal"> & {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly at: number;
  /** `anonymous` stands for an unauthenticated caller; the name is what the caller claimed. */
  readonly actorKind: Actor["kind"] | "anonymous";
  readonly actorId: Uuid | null;
  readonly actorName: string;
  readonly actorEmail: string | null;
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  /** Null for changes without a request. */
  readonly request: RequestFacts | null;
  /** Null if there is nothing to compare, such as for the start of an execution. */
  readonly difference: Difference | null;
  readonly outcome: Outcome;
  readonly code: string | null;
  readonly status: number | null;
  readonly permission: string | null;
  /** The number of equal attempts that the entry stands for. */
  readonly attempts: number;
};

/** `project.create` → `CREATE`, `delegate-token.revoke` → `REVOKE`. */
export const actionOf = ({ operation }: Pick<AuditEntry, "operation">): string =>
  (operation.split(".")[1] ?? operation).replaceAll("-", "_").toUpperCase();

/** The filter of a list; undefined fields do not filter. Both ends of the time are included. */
export type AuditFilter = {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** The entry is in one of the scopes, or below it. */
  readonly scopes?: readonly { readonly org: string | null; readonly project: string | null }[] | undefined;
  readonly resources?: readonly { readonly type: string; readonly id: string | null }[] | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly outcomes?: readonly Outcome[] | undefined;
  /** By id, or by what people call them: users by e-mail address, service accounts by identifier. */
  readonly actors?:
    | readonly { readonly kind: string; readonly id: Uuid | null; readonly name: string | null }[]
    | undefined;
  /** Part of the resource's identifier, of the actor's name or address, or of the operation, in any case. */
  readonly searchTerm?: string | undefined;
};
