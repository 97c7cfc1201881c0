/** Roles and resource groups of every account. They are code and cannot be changed. */
import { permissions, type PermissionFacts, type ScopeLevel } from "./grants/permission.ts";

export const ACCOUNT_ADMIN = "_account_admin";
export const ALL_BELOW = "_all_resources_including_child_scopes";

export type BuiltInRole = {
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly levels: readonly ScopeLevel[];
  readonly permissions: ReadonlySet<string>;
};

const holding = (which: (permission: PermissionFacts) => boolean): ReadonlySet<string> =>
  new Set([...permissions.values()].filter(which).map(({ identifier }) => identifier));

const LOOKED_AT = ["RESOURCEGROUP", "PROJECT", "USER", "USERGROUP", "ROLE", "PIPELINE", "INPUT_SET"];
const USED = ["SECRET", "CONNECTOR", "ENVIRONMENT", "SERVICE"];

const LEVELS = [
  ["account", "Account"],
  ["organization", "Organization"],
  ["project", "Project"],
] as const;

const builtIn: readonly BuiltInRole[] = [
  ...LEVELS.map(([level, name]) => ({
    identifier: `_${level}_admin`,
    name: `${name} Admin`,
    description: `May do everything that there is to do in the ${level}.`,
    levels: [level],
    permissions: holding(({ levels }) => levels.includes(level)),
  })),
  ...LEVELS.map(([level, name]) => ({
    identifier: `_${level}_viewer`,
    name: `${name} Viewer`,
    description: `May look at everything in the ${level} and change nothing.`,
    levels: [level],
    permissions: holding(({ action, levels }) => action === "view" && levels.includes(level)),
  })),
  {
    identifier: "_pipeline_executor",
    name: "Pipeline Executor",
    description: "May run the pipelines of a project with what they use.",
    levels: ["project"],
    permissions: holding(
      ({ action, resourceType }) =>
        (action === "view" && [...LOOKED_AT, ...USED].includes(resourceType)) ||
        (action === "access" && USED.includes(resourceType)) ||
        (action === "execute" && resourceType === "PIPELINE"),
    ),
  },
];

export const builtInRoles: ReadonlyMap<string, BuiltInRole> = new Map(builtIn.map((role) => [role.identifier, role]));

export type BuiltInGroup = {
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly levels: readonly ScopeLevel[];
  /** All resources of its own scope; with or without child scopes. */
  readonly children: boolean;
};

const groups: readonly BuiltInGroup[] = [
  {
    identifier: ALL_BELOW,
    name: "All Resources Including Child Scopes",
    description: "All that lies in the scope and in the scopes below it.",
    levels: ["account", "organization"],
    children: true,
  },
  ...LEVELS.map(([level, name]) => ({
    identifier: `_all_${level}_level_resources`,
    name: `All ${name} Level Resources`,
    description: `All that lies in the ${level} itself.`,
    levels: [level],
    children: false,
  })),
];

export const builtInGroups: ReadonlyMap<string, BuiltInGroup> = new Map(
  groups.map((group) => [group.identifier, group]),
);
