import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { permissionList, roleCreate } from "../../../api/operations.gen.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { RoleForm } from "./role-form.tsx";

const EXAMPLE = {
  identifier: "deployer",
  name: "Deployer",
  permissions: ["core_pipeline_view", "core_pipeline_execute"],
};

export function NewRolePage() {
  const scope = usePageScope();
  const roles = `${useAccessPath()}/roles`;
  const navigate = useNavigate();
  const permissions = useQuery(dataQuery(permissionList, { query: scope }));
  useTitle("New role", "Roles");
  return (
    <>
      <PageHeader
        title="New role"
        breadcrumbs={[
          <PathLink key="list" path={roles}>
            Roles
          </PathLink>,
        ]}
        actions={<CopyAs requests={[{ label: "Create a role", operation: roleCreate, query: scope, body: EXAMPLE }]} />}
      />
      {permissions.error !== null && (
        <ErrorState
          title="The permissions could not be loaded"
          message={messageOf(permissions.error)}
          onRetry={() => void permissions.refetch()}
        />
      )}
      {permissions.isPending && <SkeletonLines lines={8} />}
      {permissions.data !== undefined && (
        <RoleForm
          scope={scope}
          former={undefined}
          permissions={permissions.data.map(({ permission }) => permission)}
          onSaved={(identifier) => void navigate({ to: `${roles}/${identifier}` as "/" })}
        />
      )}
    </>
  );
}
