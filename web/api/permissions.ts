import { useSuspenseQuery } from "@tanstack/react-query";
import { fetchData } from "./client.ts";
import type { AnyOperation } from "./operation.ts";
import { accessCheck } from "./operations.gen.ts";
import { currentSession } from "./session.ts";

/** A place in the account. Without both identifiers it is the account itself. */
export type Scope = { readonly orgIdentifier?: string; readonly projectIdentifier?: string };

/** The permissions by which pages offer their actions, with the type of resource that each is about. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  AUDIT: ["core_audit_view"],
  CONNECTOR: ["core_connector_access", "core_connector_delete", "core_connector_edit", "core_connector_view"],
  DELEGATE: ["core_delegate_delete", "core_delegate_edit", "core_delegate_view"],
  ENVIRONMENT: ["core_environment_delete", "core_environment_edit", "core_environment_view"],
  INPUT_SET: ["core_inputset_delete", "core_inputset_edit", "core_inputset_view"],
  ORGANIZATION: [
    "core_organization_create",
    "core_organization_delete",
    "core_organization_edit",
    "core_organization_view",
  ],
  PIPELINE: [
    "core_pipeline_abort",
    "core_pipeline_delete",
    "core_pipeline_edit",
    "core_pipeline_execute",
    "core_pipeline_view",
  ],
  PROJECT: ["core_project_create", "core_project_delete", "core_project_edit", "core_project_view"],
  RESOURCEGROUP: ["core_resourcegroup_delete", "core_resourcegroup_edit", "core_resourcegroup_view"],
  ROLE: ["core_role_delete", "core_role_edit", "core_role_view"],
  SECRET: ["core_secret_delete", "core_secret_edit", "core_secret_view"],
  SERVICE: ["core_service_delete", "core_service_edit", "core_service_view"],
  SERVICEACCOUNT: [
    "core_serviceaccount_delete",
    "core_serviceaccount_edit",
    "core_serviceaccount_manageapikey",
    "core_serviceaccount_view",
  ],
  SETTING: ["core_setting_edit", "core_setting_view"],
  USER: ["core_user_invite", "core_user_manage", "core_user_view"],
  USERGROUP: ["core_usergroup_manage", "core_usergroup_view"],
};

/** The options of a query for what the signed-in user may do in the scope. */
export function permissionsQuery(scope: Scope) {
  return {
    queryKey: ["permissions", scope.orgIdentifier ?? "", scope.projectIdentifier ?? ""] as const,
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<ReadonlySet<string>> => {
      const resourceScope = { accountIdentifier: currentSession().accountIdentifier, ...scope };
      const permissions = Object.entries(PERMISSIONS).flatMap(([resourceType, names]) =>
        names.map((permission) => ({ resourceScope, resourceType, permission })),
      );
      const { accessControlList } = await fetchData(accessCheck, { body: { permissions } }, { signal });
      return new Set(accessControlList.filter((one) => one.permitted).map((one) => one.permission));
    },
    staleTime: 30_000,
  };
}

/** Tells whether the user may call the operation in the scope; the API decides when it is called. */
export type May = (operation: AnyOperation) => boolean;

export const mayBy =
  (permitted: ReadonlySet<string>): May =>
  ({ permission }) =>
    permission === null || permitted.has(permission);

/** Suspends until the permissions of the scope are known; the loaders of projectRoute and accountRoute have them. */
export function useMay(scope: Scope): May {
  const { data } = useSuspenseQuery(permissionsQuery(scope));
  return mayBy(data);
}
