import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { roleAssignmentAggregate } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Section } from "../../../ui/card.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import type { Option } from "../../../ui/select.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { levelOf, levelOfPlace } from "../shared/levels.ts";
import styles from "../shared/panel.module.css";
import { AssignRole } from "./assign-role.tsx";
import { assignableRolesQuery, roleKey } from "./role-options.ts";
import { mayAssign, type Principal } from "./principal.ts";
import { RemoveAssignment, type RemovedAssignment } from "./remove-assignment.tsx";

type Found = DataOf<typeof roleAssignmentAggregate>;
type Assignment = Found["roleAssignments"][number];
type RoleAssignmentsProps = { readonly scope: Scope; readonly principal: Principal; readonly name: string };

/** The roles that one principal has by assignments of exactly this scope. */
export function RoleAssignments({ scope, principal, name }: RoleAssignmentsProps) {
  const may = useMay(scope);
  const canChange = mayAssign(may, principal.type);
  const level = levelOf(scope);
  const [isAssigning, setIsAssigning] = useState(false);
  const [removed, setRemoved] = useState<RemovedAssignment>();
  const { data, error } = useQuery({
    ...dataQuery(roleAssignmentAggregate, { query: scope, body: { principalFilter: [principal] } }),
    enabled: may(roleAssignmentAggregate),
  });
  // The answer has the roles of this scope only.
  const around = useQuery({
    ...assignableRolesQuery(scope),
    enabled: data !== undefined && data.roleAssignments.some(({ roleReference }) => roleReference.scopeLevel !== level),
  });
  if (!may(roleAssignmentAggregate)) return null;
  return (
    <Section
      title={`Roles in this ${level}`}
      actions={
        canChange && (
          <Button size="small" icon="plus" onClick={() => setIsAssigning(true)}>
            Assign a role
          </Button>
        )
      }
    >
      {error !== null && <Notice tone="failed">{messageOf(error)}</Notice>}
      {data === undefined && error === null && <SkeletonLines lines={2} />}
      {data?.roleAssignments.length === 0 && (
        <p className={styles.none}>{principal.type === "USER" ? "None. Roles of groups count, too." : "None."}</p>
      )}
      <ul className={styles.rows}>
        {data?.roleAssignments.map((one) => {
          const role = roleNameOf(data, one, around.data ?? []);
          return (
            <li key={one.identifier} className={styles.row}>
              <span className={styles.text}>
                <Name>{role}</Name>
                <span className={styles.none}>
                  over <Name>{groupNameOf(data, one)}</Name>
                </span>
              </span>
              {one.disabled && <Badge tone="paused">Disabled</Badge>}
              {canChange && (
                <IconButton
                  icon="trash"
                  size="small"
                  label={`Remove role ${role}`}
                  onClick={() => setRemoved({ identifier: one.identifier, role, principal: name })}
                />
              )}
            </li>
          );
        })}
      </ul>
      {isAssigning && <AssignRole scope={scope} to={{ principal, name }} onClose={() => setIsAssigning(false)} />}
      {removed && <RemoveAssignment scope={scope} removed={removed} onClose={() => setRemoved(undefined)} />}
    </Section>
  );
}

function roleNameOf({ roles }: Found, { roleReference }: Assignment, around: readonly Option[]): string {
  const named = roles.filter(({ role }) => role.identifier === roleReference.identifier);
  const found = named.find(({ scope }) => levelOfPlace(scope) === roleReference.scopeLevel) ?? named[0];
  const key = roleKey(roleReference);
  return found?.role.name ?? around.find(({ value }) => value === key)?.label ?? roleReference.identifier;
}

const groupNameOf = ({ resourceGroups }: Found, { resourceGroupIdentifier }: Assignment): string =>
  resourceGroups.find(({ resourceGroup }) => resourceGroup.identifier === resourceGroupIdentifier)?.resourceGroup
    .name ?? resourceGroupIdentifier;
