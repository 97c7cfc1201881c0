import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Permission, ScopeLevel } from "../grants/permission.ts";

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

export type NewAssignment = Place & {
  /** Generated if it is missing. */
  readonly identifier: string | undefined;
  readonly principal: {
    readonly type: PrincipalType;
    readonly identifier: string;
    readonly level: ScopeLevel | undefined;
  };
  readonly role: { readonly identifier: string; readonly level: ScopeLevel | undefined };
  readonly resourceGroup: string;
  readonly disabled: boolean;
};

/**
 * The permission to assign roles, by type of principal: administrators of users, groups or service accounts also assign
 * their roles, up to what they hold.
 */
export const MANAGE_PERMISSIONS: Readonly<Record<PrincipalType, Permission>> = {
  USER: "core_user_manage",
  USER_GROUP: "core_usergroup_manage",
  SERVICE_ACCOUNT: "core_serviceaccount_edit",
};
