import type { Actor, RequestFacts } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import type { AuditView, Difference } from "./difference.ts";

/** One change, as the verb that made it describes it. */
export type AuditedChange = {
  /** `noun.verb`, the same name as the route's operation. */
  readonly operation: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly scope: Omit<Scope, "accountId">;
  /** Why it was refused; undefined for what was done. */
  readonly refusal?: Refusal | undefined;
  /** How the thing was and how it is now; undefined where there was or is none. No secret may be in it. */
  readonly before?: AuditView | undefined;
  readonly after?: AuditView | undefined;
};

/** An attempt that came to nothing, or several of one kind. */
export type Refusal = {
  /** The problem's code and its HTTP status. */
  readonly code: string;
  readonly status: number;
  /** What was missing, where it was a permission. */
  readonly permission?: string | null | undefined;
  readonly attempts?: number | undefined;
};

export type Outcome = "success" | "refused";

/** One change, or one refusal, as it stands in the trail. */
export type AuditEntry = Omit<AuditedChange, "scope" | "before" | "after" | "refusal"> & {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly at: number;
  /** `anonymous`: nobody was let in; the name is what they said of themselves. */
  readonly actorKind: Actor["kind"] | "anonymous";
  readonly actorId: Uuid | null;
  readonly actorName: string;
  readonly actorEmail: string | null;
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  /** Null for what no request made. */
  readonly request: RequestFacts | null;
  /** Null where there is nothing to compare, as with the start of an execution. */
  readonly difference: Difference | null;
  readonly outcome: Outcome;
  readonly code: string | null;
  readonly status: number | null;
  readonly permission: string | null;
  /** For how many attempts of one kind the entry stands. */
  readonly attempts: number;
};

/** `project.create` → `CREATE`, `delegate-token.revoke` → `REVOKE`. */
export const actionOf = ({ operation }: Pick<AuditEntry, "operation">): string =>
  (operation.split(".")[1] ?? operation).replaceAll("-", "_").toUpperCase();

/** What a list of the trail is narrowed to; undefined is no condition. Both ends of the time belong to it. */
export type AuditFilter = {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** An entry lies in one of the scopes, or below it. */
  readonly scopes?: readonly { readonly org: string | null; readonly project: string | null }[] | undefined;
  readonly resources?: readonly { readonly type: string; readonly id: string | null }[] | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly outcomes?: readonly Outcome[] | undefined;
  readonly actors?: readonly { readonly kind: string; readonly id: Uuid | null }[] | undefined;
};
