import type { AnyOperation } from "../../../api/operation.ts";
import { roleAssignmentCreate, roleAssignmentDelete, serviceAccountUpdate } from "../../../api/operations.gen.ts";
import type { May } from "../../../api/permissions.ts";
import type { PrincipalType } from "../shared/names.ts";
import type { ScopeLevel } from "../shared/levels.ts";

/** Whom a role is assigned to, as the API names it. */
export type Principal = {
  readonly type: PrincipalType;
  readonly identifier: string;
  readonly scopeLevel: ScopeLevel;
};

/** Operations with the permission that the API asks for, which depends on the principal. */
const ASSIGNING: Readonly<Record<PrincipalType, AnyOperation>> = {
  USER: roleAssignmentDelete,
  USER_GROUP: roleAssignmentCreate,
  SERVICE_ACCOUNT: serviceAccountUpdate,
};

/** Tells whether the user may give roles to principals of this type, and take them. */
export const mayAssign = (may: May, type: PrincipalType): boolean => may(ASSIGNING[type]);

const TYPES: readonly PrincipalType[] = ["USER", "USER_GROUP", "SERVICE_ACCOUNT"];
const LEVELS: readonly ScopeLevel[] = ["account", "organization", "project"];

/** The principal in one text, for addresses and options. */
export const principalKey = ({ type, scopeLevel, identifier }: Principal): string =>
  `${type}.${scopeLevel}.${identifier}`;

/** Undefined for a text that names no principal. */
export function parsePrincipalKey(key: string): Principal | undefined {
  const [typeText, levelText, ...rest] = key.split(".");
  const type = TYPES.find((one) => one === typeText);
  const scopeLevel = LEVELS.find((one) => one === levelText);
  const identifier = rest.join(".");
  return type && scopeLevel && identifier !== "" ? { type, scopeLevel, identifier } : undefined;
}
