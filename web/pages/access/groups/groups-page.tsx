import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery, fetchData } from "../../../api/client.ts";
import { userGroupCreate, userGroupList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch } from "../access-search.ts";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { EditDetails } from "../shared/edit-details.tsx";
import { ItemLink, useOpenItem } from "../shared/open-item.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";
import { GroupOrigin, type GroupRow } from "./group-origin.tsx";
import { GroupPanel } from "./group-panel.tsx";

const PAGE_SIZE = 50;

export function GroupsPage() {
  const scope = usePageScope();
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  const [isCreating, setIsCreating] = useState(false);
  const { shown, close } = useOpenItem();
  useTitle("Groups", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = {
    ...scope,
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(userGroupList, { query }), placeholderData: (former) => former });
  const create = may(userGroupCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setIsCreating(true)}>
      New group
    </Button>
  );
  return (
    <>
      <ListPage
        title="Groups"
        description={<ScopePicker />}
        tabs={<AccessTabs />}
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={COLUMNS}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ identifier }) => identifier}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List user groups", operation: userGroupList, query }]}
        queries={[{ label: "List user groups", query: "{ userGroups(limit: 50) { nodes { id name } } }" }]}
        empty={
          <EmptyState icon="users" title="No groups yet" actions={create}>
            A role that is assigned to a group counts for all its members.
          </EmptyState>
        }
      />
      {shown !== undefined && <GroupPanel key={shown} identifier={shown} scope={scope} onClose={close} />}
      {isCreating && (
        <EditDetails
          noun="group"
          former={undefined}
          lists={[userGroupList]}
          save={(details) => fetchData(userGroupCreate, { query: scope, body: { ...scope, ...details } })}
          onClose={() => setIsCreating(false)}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<GroupRow>[] = [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ identifier, name }) => (
      <ItemLink id={identifier}>
        <Name>{name}</Name>
      </ItemLink>
    ),
  },
  { key: "identifier", header: "Identifier", cell: ({ identifier }) => <code>{identifier}</code> },
  { key: "kind", header: "Members come from", width: "12rem", cell: (row) => <GroupOrigin group={row} /> },
  {
    key: "members",
    header: "Members",
    width: "7rem",
    align: "end",
    cell: ({ platformManaged, users }) => (platformManaged ? "all" : users.length),
  },
];
