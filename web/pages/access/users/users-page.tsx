import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { invitationList, roleAssignmentCreate, userAdd, userAggregates } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch } from "../access-search.ts";
import { AssignRole } from "../assignments/assign-role.tsx";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { levelOf } from "../shared/levels.ts";
import { ItemLink, useOpenItem } from "../shared/open-item.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";
import { InviteUsers } from "./invite-users.tsx";
import { useInvitations } from "./use-invitations.ts";
import { UserPanel } from "./user-panel.tsx";
import type { Invitation, UserRow } from "./user-row.ts";
import { UserState } from "./user-state.tsx";

const PAGE_SIZE = 50;

/** The users of the account, or those who have a role in the project or organization. */
export function UsersPage() {
  const scope = usePageScope();
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  const [isAdding, setIsAdding] = useState(false);
  const { shown, close } = useOpenItem();
  useTitle("Users", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = {
    ...scope,
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(userAggregates, { query }), placeholderData: (former) => former });
  const invitations = useInvitations();
  const isAccount = levelOf(scope) === "account";
  const add = (isAccount ? may(userAdd) : may(roleAssignmentCreate)) && (
    <Button variant="primary" icon="plus" onClick={() => setIsAdding(true)}>
      {isAccount ? "Invite people" : "Assign a role"}
    </Button>
  );
  return (
    <>
      <ListPage
        title="Users"
        description={<ScopePicker />}
        tabs={<AccessTabs />}
        actions={add}
        search={search}
        pageSize={PAGE_SIZE}
        columns={columnsFor(invitations)}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ user }) => user.uuid}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[
          { label: "List users", operation: userAggregates, query },
          { label: "List invitations", operation: invitationList },
        ]}
        queries={[{ label: "List users", query: "{ users(limit: 50) { nodes { id name email } } }" }]}
        empty={
          <EmptyState icon="users" title={`No users have a role in this ${levelOf(scope)}`} actions={add}>
            Users of the account see it when a role is assigned to them, or to a group that they are in.
          </EmptyState>
        }
      />
      {shown !== undefined && (
        <UserPanel key={shown} userId={shown} scope={scope} invitation={invitations.get(shown)} onClose={close} />
      )}
      {isAdding && isAccount && <InviteUsers onClose={() => setIsAdding(false)} />}
      {isAdding && !isAccount && <AssignRole scope={scope} to={undefined} onClose={() => setIsAdding(false)} />}
    </>
  );
}

const columnsFor = (invitations: ReadonlyMap<string, Invitation>): readonly Column<UserRow>[] => [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ user }) => (
      <ItemLink id={user.uuid}>
        <Name>{user.name}</Name>
      </ItemLink>
    ),
  },
  { key: "email", header: "E-mail", cell: ({ user }) => <Name>{user.email}</Name> },
  {
    key: "roles",
    header: "Roles",
    cell: ({ roleAssignmentMetadata }) => {
      const names = [...new Set(roleAssignmentMetadata.map(({ roleName }) => roleName))];
      return names.length === 0 ? "–" : <TagList tags={names} />;
    },
  },
  {
    key: "state",
    header: "State",
    width: "10rem",
    cell: ({ user }) => <UserState user={user} invitation={invitations.get(user.uuid)} />,
  },
  {
    key: "origin",
    header: "Kept in",
    width: "8rem",
    wideOnly: true,
    cell: ({ user }) => (user.externallyManaged ? <Badge icon="link">Directory</Badge> : "Railhead"),
  },
];
