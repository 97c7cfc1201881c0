import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";
import { organizationRoute } from "../../routes/organization-route.ts";
import { projectRoute } from "../../routes/project-route.ts";
import { parseAccessSearch } from "./access-search.ts";
import { parseOwnershipSearch } from "./ownership/ownership-search.ts";

const users = {
  path: "access/users",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./users/users-page.tsx"), "UsersPage"),
} as const;
const groups = {
  path: "access/groups",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./groups/groups-page.tsx"), "GroupsPage"),
} as const;
const serviceAccounts = {
  path: "access/service-accounts",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./service-accounts/service-accounts-page.tsx"), "ServiceAccountsPage"),
} as const;
const serviceAccount = {
  path: "access/service-accounts/$serviceAccount",
  component: lazyRouteComponent(() => import("./service-accounts/service-account-page.tsx"), "ServiceAccountPage"),
} as const;
const roles = {
  path: "access/roles",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./roles/roles-page.tsx"), "RolesPage"),
} as const;
const role = {
  path: "access/roles/$role",
  component: lazyRouteComponent(() => import("./roles/role-page.tsx"), "RolePage"),
} as const;
const newRole = {
  path: "access/new-role",
  component: lazyRouteComponent(() => import("./roles/new-role-page.tsx"), "NewRolePage"),
} as const;
const resourceGroups = {
  path: "access/resource-groups",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./resource-groups/resource-groups-page.tsx"), "ResourceGroupsPage"),
} as const;
const resourceGroup = {
  path: "access/resource-groups/$resourceGroup",
  component: lazyRouteComponent(() => import("./resource-groups/resource-group-page.tsx"), "ResourceGroupPage"),
} as const;
const newResourceGroup = {
  path: "access/new-resource-group",
  component: lazyRouteComponent(() => import("./resource-groups/new-resource-group-page.tsx"), "NewResourceGroupPage"),
} as const;
const permissions = {
  path: "access/permissions",
  validateSearch: parseAccessSearch,
  component: lazyRouteComponent(() => import("./permissions/permissions-page.tsx"), "PermissionsPage"),
} as const;
const index = {
  path: "access",
  component: lazyRouteComponent(() => import("./shared/access-tabs.tsx"), "AccessIndex"),
} as const;

/** What stops when a user leaves; of the account alone. */
const ownershipRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "ownership",
  validateSearch: parseOwnershipSearch,
  component: lazyRouteComponent(() => import("./ownership/ownership-page.tsx"), "OwnershipPage"),
});

/** The same pages for the account, for each organization and for each project. */
export const accessRoutes = [
  ownershipRoute,
  createRoute({ ...index, getParentRoute: () => accountRoute }),
  createRoute({ ...users, getParentRoute: () => accountRoute }),
  createRoute({ ...groups, getParentRoute: () => accountRoute }),
  createRoute({ ...serviceAccounts, getParentRoute: () => accountRoute }),
  createRoute({ ...serviceAccount, getParentRoute: () => accountRoute }),
  createRoute({ ...roles, getParentRoute: () => accountRoute }),
  createRoute({ ...role, getParentRoute: () => accountRoute }),
  createRoute({ ...newRole, getParentRoute: () => accountRoute }),
  createRoute({ ...resourceGroups, getParentRoute: () => accountRoute }),
  createRoute({ ...resourceGroup, getParentRoute: () => accountRoute }),
  createRoute({ ...newResourceGroup, getParentRoute: () => accountRoute }),
  createRoute({ ...permissions, getParentRoute: () => accountRoute }),
] as const;

export const accessOfOrganizationRoutes = [
  createRoute({ ...index, getParentRoute: () => organizationRoute }),
  createRoute({ ...users, getParentRoute: () => organizationRoute }),
  createRoute({ ...groups, getParentRoute: () => organizationRoute }),
  createRoute({ ...serviceAccounts, getParentRoute: () => organizationRoute }),
  createRoute({ ...serviceAccount, getParentRoute: () => organizationRoute }),
  createRoute({ ...roles, getParentRoute: () => organizationRoute }),
  createRoute({ ...role, getParentRoute: () => organizationRoute }),
  createRoute({ ...newRole, getParentRoute: () => organizationRoute }),
  createRoute({ ...resourceGroups, getParentRoute: () => organizationRoute }),
  createRoute({ ...resourceGroup, getParentRoute: () => organizationRoute }),
  createRoute({ ...newResourceGroup, getParentRoute: () => organizationRoute }),
  createRoute({ ...permissions, getParentRoute: () => organizationRoute }),
] as const;

export const accessOfProjectRoutes = [
  createRoute({ ...index, getParentRoute: () => projectRoute }),
  createRoute({ ...users, getParentRoute: () => projectRoute }),
  createRoute({ ...groups, getParentRoute: () => projectRoute }),
  createRoute({ ...serviceAccounts, getParentRoute: () => projectRoute }),
  createRoute({ ...serviceAccount, getParentRoute: () => projectRoute }),
  createRoute({ ...roles, getParentRoute: () => projectRoute }),
  createRoute({ ...role, getParentRoute: () => projectRoute }),
  createRoute({ ...newRole, getParentRoute: () => projectRoute }),
  createRoute({ ...resourceGroups, getParentRoute: () => projectRoute }),
  createRoute({ ...resourceGroup, getParentRoute: () => projectRoute }),
  createRoute({ ...newResourceGroup, getParentRoute: () => projectRoute }),
  createRoute({ ...permissions, getParentRoute: () => projectRoute }),
] as const;
