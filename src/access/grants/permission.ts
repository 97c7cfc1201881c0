/**
 * All permissions: their resource types and levels.
 *
 * A new permission is mentioned here and in other places:
 * - `NOUNS`: its noun with the resource type, and its operation. `ACCOUNT_ONLY`: if only roles of the account may
 *   contain it. A new resource type also needs the tests test/access/leaving.test.ts and
 *   assignments/assignments.test.ts.
 * - builtin.ts: administrators get every permission of their level, viewers every `view`, the executor the types of
 *   `LOOKED_AT` and `USED`. So `view` only reads: test/scenarios/security/access.test.ts expects every route without it
 *   to refuse a viewer, and has the list of operations. It has no other meaning: all requests of an actor, reads
 *   and changes, use the same share of the database connections (src/platform/db/pool/budget.ts).
 * - The route (`access.permission`) or the GraphQL field (`extensions.permission`), and the `authorize` of its
 *   operation.
 * - test/access/rows.ts: a cell for each caller. docs/api/access.md and, for a field, docs/api/graphql.md.
 */
import type { ResourceType } from "../../core/grants.ts";
import type { Place } from "../../core/reference.ts";

export type ScopeLevel = "account" | "organization" | "project";

const VED = ["view", "edit", "delete"] as const;
const VEDA = [...VED, "access"] as const;

/** Noun of the permission → resource type and operations. These are all values of `ResourceType` (core/grants.ts). */
const NOUNS = {
  account: ["ACCOUNT", ["view", "edit"]],
  setting: ["SETTING", ["view", "edit"]],
  authsetting: ["AUTHSETTING", VED],
  audit: ["AUDIT", ["view"]],
  organization: ["ORGANIZATION", ["view", "create", "edit", "delete"]],
  project: ["PROJECT", ["view", "create", "edit", "delete"]],
  user: ["USER", ["view", "manage", "invite"]],
  usergroup: ["USERGROUP", ["view", "manage"]],
  role: ["ROLE", VED],
  resourcegroup: ["RESOURCEGROUP", VED],
  serviceaccount: ["SERVICEACCOUNT", [...VED, "manageapikey"]],
  pipeline: ["PIPELINE", [...VED, "execute", "abort"]],
  inputset: ["INPUT_SET", VED],
  service: ["SERVICE", VEDA],
  environment: ["ENVIRONMENT", VEDA],
  connector: ["CONNECTOR", VEDA],
  secret: ["SECRET", VEDA],
  delegate: ["DELEGATE", VED],
} as const;

type Nouns = typeof NOUNS;
type Of<N extends keyof Nouns> = `core_${N}_${Nouns[N][1][number]}`;
/** The identifier of a permission, as in `core_pipeline_view`. */
export type Permission = { [N in keyof Nouns]: Of<N> }[keyof Nouns];

export type PermissionFacts = {
  readonly identifier: Permission;
  /** The display name, such as `view pipeline`. */
  readonly name: string;
  readonly resourceType: ResourceType;
  readonly action: string;
  /**
   * The levels of roles that may contain it. A role of an account covers child scopes only through a resource group
   * that includes them.
   */
  readonly levels: readonly ScopeLevel[];
};

const EVERYWHERE: readonly ScopeLevel[] = ["account", "organization", "project"];
const ACCOUNT_ONLY = new Set<string>([
  "core_organization_create",
  ...["account", "authsetting", "delegate"].flatMap((noun) => VED.map((verb) => `core_${noun}_${verb}`)),
]);

function levelsOf(noun: keyof Nouns, identifier: string): readonly ScopeLevel[] {
  if (ACCOUNT_ONLY.has(identifier)) return ["account"];
  return noun === "organization" || identifier === "core_project_create" ? ["account", "organization"] : EVERYWHERE;
}

/** Every permission, by its identifier. */
export const permissions: ReadonlyMap<string, PermissionFacts> = new Map(
  (Object.keys(NOUNS) as (keyof Nouns)[]).flatMap((noun) =>
    NOUNS[noun][1].map((action) => {
      const identifier = `core_${noun}_${action}` as Permission;
      const facts = { identifier, name: `${action} ${noun}`, resourceType: NOUNS[noun][0], action };
      return [identifier, { ...facts, levels: levelsOf(noun, identifier) }] as const;
    }),
  ),
);

export const levelOf = ({ orgIdentifier, projectIdentifier }: Place): ScopeLevel =>
  projectIdentifier !== null ? "project" : orgIdentifier !== null ? "organization" : "account";

/**
 * The types that resource groups name. A group may name resources of each by identifier, but that gives nothing for
 * ACCOUNT, SETTING, AUTHSETTING, AUDIT, USER and DELEGATE: their permissions are checked for all resources of a scope.
 */
export type ReferencableType = Nouns[keyof Nouns][0];

/** Every type that a resource group may name, in the order of the table. */
export const resourceTypes: readonly ResourceType[] = Object.values(NOUNS).map(([type]) => type);
