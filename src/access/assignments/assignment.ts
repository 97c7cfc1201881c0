import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { ScopeLevel } from "../grants/permission.ts";

export const PRINCIPAL_TYPES = ["USER", "USER_GROUP", "SERVICE_ACCOUNT"] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** A role over a resource group for a principal, in a scope. The ids of built-in roles and groups are null. */
export type Assignment = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly principal: {
    readonly type: PrincipalType;
    readonly id: Uuid | null;
    /** A user by id, a group or service account by identifier. */
    readonly identifier: string;
    /** The level of the group or service account: the assignment's scope or above it. */
    readonly level: ScopeLevel;
  };
  readonly role: { readonly identifier: string; readonly level: ScopeLevel; readonly id: Uuid | null };
  readonly resourceGroup: { readonly identifier: string; readonly id: Uuid | null };
  readonly disabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
};
