/** Names of what the API names by constants. */
export const RESOURCE_TYPES: Readonly<Record<string, string>> = {
  ACCOUNT: "Account",
  SETTING: "Settings",
  AUTHSETTING: "Authentication settings",
  AUDIT: "Audit trail",
  ORGANIZATION: "Organizations",
  PROJECT: "Projects",
  USER: "Users",
  USERGROUP: "User groups",
  ROLE: "Roles",
  RESOURCEGROUP: "Resource groups",
  SERVICEACCOUNT: "Service accounts",
  PIPELINE: "Pipelines",
  INPUT_SET: "Input sets",
  SERVICE: "Services",
  ENVIRONMENT: "Environments",
  CONNECTOR: "Connectors",
  SECRET: "Secrets",
  DELEGATE: "Delegates",
};

/** The name of a type; that of a later release stays as it is. */
export const typeName = (type: string): string => RESOURCE_TYPES[type] ?? type;

const ACTIONS: Readonly<Record<string, string>> = { access: "use", manageapikey: "manage API keys" };

/** The name of an action in sentences; that of a later release stays as it is. */
export const actionName = (action: string): string => ACTIONS[action] ?? action;

export const PRINCIPAL_TYPES = {
  USER: "User",
  USER_GROUP: "Group",
  SERVICE_ACCOUNT: "Service account",
} as const;
export type PrincipalType = keyof typeof PRINCIPAL_TYPES;
export const PRINCIPAL_TYPE_NAMES = Object.entries(PRINCIPAL_TYPES) as readonly (readonly [PrincipalType, string])[];

/** The name of a built-in role or resource group, from its identifier. */
export function builtInName(identifier: string): string {
  const words = identifier.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
