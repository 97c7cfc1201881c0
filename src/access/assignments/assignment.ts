import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { ScopeLevel } from "../permission.ts";

export const PRINCIPAL_TYPES = ["USER", "USER_GROUP", "SERVICE_ACCOUNT"] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** A role over a resource group for somebody, at a scope. The ids are null for what is built in. */
export type Assignment = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly principal: {
    readonly type: PrincipalType;
    readonly id: Uuid | null;
    /** A person by the id, a group or service account by the identifier. */
    readonly identifier: string;
    /** Where a group or service account lives: at the assignment's scope or above it. */
    readonly level: ScopeLevel;
  };
  readonly role: { readonly identifier: string; readonly level: ScopeLevel; readonly id: Uuid | null };
  readonly resourceGroup: { readonly identifier: string; readonly id: Uuid | null };
  readonly disabled: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
};
