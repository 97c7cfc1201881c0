import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { userGroupDelete, userGroupGet, userGroupList, userGroupUpdate } from "../../../api/operations.gen.ts";
import { useMay, type Scope } from "../../../api/permissions.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { KeyValues } from "../../../ui/key-values.tsx";
import { Name } from "../../../ui/name.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { RoleAssignments } from "../assignments/role-assignments.tsx";
import { DeleteItem } from "../shared/delete-item.tsx";
import { EditDetails } from "../shared/edit-details.tsx";
import { levelOf } from "../shared/levels.ts";
import { countOf } from "../shared/names.ts";
import styles from "../shared/panel.module.css";
import { GroupMembers } from "./group-members.tsx";
import { GroupOrigin } from "./group-origin.tsx";

type Group = DataOf<typeof userGroupGet>;
type GroupPanelProps = { readonly identifier: string; readonly scope: Scope; readonly onClose: () => void };

/** A group with its members and roles. */
export function GroupPanel({ identifier, scope, onClose }: GroupPanelProps) {
  const { data: group, error } = useQuery(dataQuery(userGroupGet, { path: { identifier }, query: scope }));
  if (group === undefined)
    return (
      <Dialog open placement="side" title="Group" onClose={onClose}>
        {error === null ? <SkeletonLines lines={6} /> : <Notice tone="failed">{messageOf(error)}</Notice>}
      </Dialog>
    );
  return <OpenGroup group={group} scope={scope} onClose={onClose} />;
}

type OpenGroupProps = { readonly group: Group; readonly scope: Scope; readonly onClose: () => void };

function OpenGroup({ group, scope, onClose }: OpenGroupProps) {
  const may = useMay(scope);
  const [open, setOpen] = useState<"none" | "edit" | "delete">("none");
  const { identifier, name, description } = group;
  const isOwn = !group.platformManaged && !group.externallyManaged;
  const canChange = isOwn && may(userGroupUpdate, identifier);
  const close = (): void => setOpen("none");
  const actions = canChange && (
    <>
      <Button variant="ghost" icon="trash" onClick={() => setOpen("delete")}>
        Delete group
      </Button>
      <Button icon="edit" onClick={() => setOpen("edit")}>
        Edit
      </Button>
    </>
  );
  return (
    <Dialog open placement="side" title={<Name>{name}</Name>} onClose={onClose} actions={actions || undefined}>
      <div className={styles.panel}>
        <KeyValues
          items={[
            { key: "Identifier", value: <code>{identifier}</code> },
            { key: "Members from", value: <GroupOrigin group={group} /> },
            { key: "Description", value: description === "" ? undefined : <Name>{description}</Name> },
          ]}
        />
        <RoleAssignments
          scope={scope}
          principal={{ type: "USER_GROUP", identifier, scopeLevel: levelOf(scope) }}
          name={name}
        />
        <GroupMembers group={group} scope={scope} canChange={canChange} />
      </div>
      {open === "edit" && (
        <EditDetails
          noun="group"
          former={group}
          lists={[userGroupList, userGroupGet]}
          save={(details) =>
            fetchData(userGroupUpdate, { query: scope, body: { ...scope, ...details, tags: group.tags } })
          }
          onClose={close}
        />
      )}
      {open === "delete" && (
        <DeleteItem
          action="Delete group"
          name={name}
          outcome="was deleted"
          typedName={identifier}
          remove={() => fetchData(userGroupDelete, { path: { identifier }, query: scope })}
          lists={[userGroupList]}
          onClose={close}
          onRemoved={onClose}
        >
          Its role assignments are deleted with it, and its {countOf(group.users.length, "member")} lose what only they
          permit. Approvals that name the group can no longer be given by its members. This cannot be undone.
        </DeleteItem>
      )}
    </Dialog>
  );
}
