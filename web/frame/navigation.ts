import type { May } from "../api/permissions.ts";
import * as api from "../api/operations.gen.ts";
import type { AnyOperation } from "../api/operation.ts";
import type { IconName } from "../ui/icon.tsx";

/** A link of the sidebar. It is shown to those who may call one of the operations that its page begins with. */
export type NavigationItem = {
  readonly label: string;
  readonly icon: IconName;
  /** Below the project or the account. */
  readonly path: string;
  /** Without operations it is shown to everyone. */
  readonly needs: readonly AnyOperation[];
  /** The API asks for the permission in the account, also for the page of a project. */
  readonly ofAccount?: boolean;
};
export type NavigationGroup = {
  readonly label: string;
  readonly scope: "project" | "account" | "none";
  readonly items: readonly NavigationItem[];
};

const item = (label: string, icon: IconName, path: string, ...needs: readonly AnyOperation[]): NavigationItem => ({
  label,
  icon,
  path,
  needs,
});

/** What the tabs of the access pages begin with. */
const ACCESS = [
  api.userAggregates,
  api.userGroupList,
  api.serviceAccountAggregates,
  api.roleList,
  api.resourceGroupList,
] as const;

/** Pages of one project. */
export const PROJECT_NAVIGATION: readonly NavigationGroup[] = [
  {
    label: "Project",
    scope: "project",
    items: [
      item("Overview", "home", ""),
      item("Executions", "activity", "executions", api.executionList),
      item("Pipelines", "pipeline", "pipelines", api.pipelineList),
      item("Triggers", "bolt", "triggers", api.triggerList),
      item("Environments", "globe", "environments", api.environmentList),
      item("Services", "box", "services", api.serviceList),
      item("Connectors", "plug", "connectors", api.connectorList),
      item("Secrets", "key", "secrets", api.secretList),
      item("Access", "users", "access", ...ACCESS),
      { ...item("Audit trail", "history", "audit", api.auditList), ofAccount: true },
      item("Settings", "settings", "settings", api.settingList),
    ],
  },
];

/** Pages of the account, and tools. */
export const ACCOUNT_NAVIGATION: readonly NavigationGroup[] = [
  {
    label: "Account",
    scope: "account",
    items: [
      item("Projects", "folder", "/account/projects", api.projectList),
      item("Organizations", "layers", "/account/organizations", api.organizationList),
      item("Delegates", "server", "/account/delegates", api.delegateList),
      item("Environments", "globe", "/account/environments", api.environmentList),
      item("Services", "box", "/account/services", api.serviceList),
      item("Connectors", "plug", "/account/connectors", api.connectorList),
      item("Secrets", "key", "/account/secrets", api.secretList),
      item("Access", "users", "/account/access", ...ACCESS),
      item("Ownership", "flag", "/account/ownership", api.ownershipList),
      item("Audit trail", "history", "/account/audit", api.auditList),
      item("Settings", "settings", "/account/settings", api.settingList),
    ],
  },
  {
    label: "Tools",
    scope: "none",
    items: [item("GraphQL", "code", "/tools/graphql"), item("API reference", "book", "/tools/api")],
  },
];

/** Pages that the palette finds and the sidebar does not show, because others lead to them. */
export const FURTHER_PROJECT_PAGES: readonly NavigationGroup[] = [
  {
    label: "Project",
    scope: "project",
    items: [
      item("New pipeline", "plus", "pipelines/new", api.pipelineCreate),
      item("New trigger", "plus", "triggers/new", api.triggerCreate),
    ],
  },
];
export const FURTHER_ACCOUNT_PAGES: readonly NavigationGroup[] = [
  {
    label: "Account",
    scope: "account",
    items: [
      item("Overview of the account", "home", "/"),
      item("Delegate tokens", "server", "/account/delegates/tokens", api.delegateTokenList),
      item("Users", "users", "/account/access/users", api.userAggregates),
      item("User groups", "users", "/account/access/groups", api.userGroupList),
      item("Service accounts", "users", "/account/access/service-accounts", api.serviceAccountAggregates),
      item("Roles", "users", "/account/access/roles", api.roleList),
      item("Resource groups", "users", "/account/access/resource-groups", api.resourceGroupList),
      item("Who can do what", "users", "/account/access/permissions", api.accessListPrincipals),
      item("Mail server", "mail", "/account/settings/mail", api.smtpConfigGet),
      item("SCIM", "settings", "/account/settings/scim", api.settingCheckScimJwt),
      item("Profile and API keys", "user", "/profile"),
    ],
  },
];

/** The groups with the links that the user may follow, by the permissions in the scope and in the account. */
export const visibleGroups = (
  groups: readonly NavigationGroup[],
  may: May,
  mayInAccount: May,
): readonly NavigationGroup[] =>
  groups
    .map((group) => ({
      ...group,
      items: group.items.filter(
        ({ needs, ofAccount }) =>
          needs.length === 0 || needs.some((operation) => (ofAccount === true ? mayInAccount : may)(operation)),
      ),
    }))
    .filter(({ items }) => items.length > 0);
