import { Navigate } from "@tanstack/react-router";
import {
  accessListPrincipals,
  resourceGroupList,
  roleList,
  serviceAccountAggregates,
  userAggregates,
  userGroupList,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { usePageScope } from "../../../routes/scope.ts";
import { LinkTabs, TabLink } from "../../../ui/tabs.tsx";
import { useAccessPath } from "./access-path.ts";

const TABS = [
  { path: "users", label: "Users", needs: userAggregates },
  { path: "groups", label: "Groups", needs: userGroupList },
  { path: "service-accounts", label: "Service accounts", needs: serviceAccountAggregates },
  { path: "roles", label: "Roles", needs: roleList },
  { path: "resource-groups", label: "Resource groups", needs: resourceGroupList },
  { path: "permissions", label: "Who can do what", needs: accessListPrincipals },
] as const;

/** Leads to the first page that the user may open. */
export function AccessIndex() {
  const base = useAccessPath();
  const may = useMay(usePageScope());
  const first = TABS.find(({ needs }) => may(needs)) ?? TABS[0];
  return <Navigate to={`${base}/${first.path}` as "/"} replace />;
}

/** The pages of access that the user may open in this scope. */
export function AccessTabs() {
  const base = useAccessPath();
  const may = useMay(usePageScope());
  return (
    <LinkTabs label="Access">
      {TABS.filter(({ needs }) => may(needs)).map(({ path, label }) => (
        <TabLink key={path} to={`${base}/${path}` as "/"} activeOptions={{ includeSearch: false }}>
          {label}
        </TabLink>
      ))}
    </LinkTabs>
  );
}
