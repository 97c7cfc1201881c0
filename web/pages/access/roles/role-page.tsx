import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { permissionList, roleDelete, roleGet, roleList, roleUpdate } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { DeleteItem } from "../shared/delete-item.tsx";
import styles from "../shared/panel.module.css";
import { PermissionMatrix, type PermissionFacts } from "./permission-matrix.tsx";
import { RoleForm } from "./role-form.tsx";

/** A role with its permissions: a form for those who may change it. */
export function RolePage() {
  const scope = usePageScope();
  const path = { identifier: useParams({ strict: false }).role ?? "" };
  const roles = `${useAccessPath()}/roles`;
  const may = useMay(scope);
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const stored = useQuery(dataQuery(roleGet, { path, query: scope }));
  const permissions = useQuery(dataQuery(permissionList, { query: scope }));
  const role = stored.data?.role;
  const name = role?.name ?? path.identifier;
  useTitle(name, "Roles");
  const error = stored.error ?? permissions.error;
  const all = permissions.data?.map(({ permission }) => permission);
  const isOwn = stored.data?.platformManaged === false;
  return (
    <>
      <PageHeader
        title={<Name>{name}</Name>}
        breadcrumbs={[
          <PathLink key="list" path={roles}>
            Roles
          </PathLink>,
        ]}
        status={stored.data?.platformManaged === true && <Badge icon="lock">Built in</Badge>}
        meta={<code>{path.identifier}</code>}
        actions={
          <>
            <CopyAs requests={[{ label: "Get the role", operation: roleGet, path, query: scope }]} />
            {isOwn && may(roleDelete, path.identifier) && (
              <Button variant="ghost" icon="trash" onClick={() => setIsDeleting(true)}>
                Delete role
              </Button>
            )}
          </>
        }
      />
      {error !== null && (
        <ErrorState
          title="The role could not be loaded"
          message={messageOf(error)}
          onRetry={() => void Promise.all([stored.refetch(), permissions.refetch()])}
        />
      )}
      {error === null && (role === undefined || all === undefined) && <SkeletonLines lines={8} />}
      {role !== undefined && all !== undefined && (
        <RoleContent scope={scope} role={role} permissions={all} isOwn={isOwn} />
      )}
      {isDeleting && (
        <DeleteItem
          action="Delete role"
          name={name}
          outcome="was deleted"
          typedName={path.identifier}
          remove={() => fetchData(roleDelete, { path, query: scope })}
          lists={[roleList]}
          onClose={() => setIsDeleting(false)}
          onRemoved={() => void navigate({ to: roles as "/" })}
        >
          A role that is assigned cannot be deleted: remove its assignments first. This cannot be undone.
        </DeleteItem>
      )}
    </>
  );
}

type RoleContentProps = {
  readonly scope: Scope;
  readonly role: DataOf<typeof roleGet>["role"];
  readonly permissions: readonly PermissionFacts[];
  readonly isOwn: boolean;
};

function RoleContent({ scope, role, permissions, isOwn }: RoleContentProps) {
  const may = useMay(scope);
  if (isOwn && may(roleUpdate, role.identifier))
    return <RoleForm key={role.identifier} scope={scope} former={role} permissions={permissions} />;
  return (
    <div className={styles.panel}>
      <Card>
        <KeyValues
          items={[
            { key: "Description", value: role.description === "" ? undefined : <Name>{role.description}</Name> },
            { key: "Assigned in", value: role.allowedScopeLevels.join(", ") },
          ]}
        />
      </Card>
      <Card title="Permissions">
        <PermissionMatrix permissions={permissions} held={new Set(role.permissions)} />
      </Card>
    </div>
  );
}
