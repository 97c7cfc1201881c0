import type { Scope } from "../core/scope.ts";

/** One change, as the verb that made it describes it. */
export type AuditedChange = {
  /** `noun.verb`, the same name as the route's operation. */
  readonly operation: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly scope: Omit<Scope, "accountId">;
};
