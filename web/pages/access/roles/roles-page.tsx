import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { roleCreate, roleList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Badge } from "../../../ui/badge.tsx";
import { ButtonPathLink, PathLink } from "../../../ui/link.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch } from "../access-search.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";

const PAGE_SIZE = 50;
type Row = DataOf<typeof roleList>["content"][number];

/** Built-in roles, and those of the scope. */
export function RolesPage() {
  const scope = usePageScope();
  const base = useAccessPath();
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  useTitle("Roles", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = {
    ...scope,
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(roleList, { query }), placeholderData: (former) => former });
  return (
    <ListPage
      title="Roles"
      description={<ScopePicker />}
      tabs={<AccessTabs />}
      actions={
        may(roleCreate) && (
          <ButtonPathLink path={`${base}/new-role`} variant="primary" icon="plus">
            New role
          </ButtonPathLink>
        )
      }
      search={search}
      pageSize={PAGE_SIZE}
      columns={columnsFor(`${base}/roles`)}
      rows={list.data?.content}
      total={list.data?.totalItems}
      rowKey={({ role }) => role.identifier}
      error={list.error}
      onRetry={() => void list.refetch()}
      requests={[{ label: "List roles", operation: roleList, query }]}
      empty={<EmptyState icon="shield" title="No roles" />}
    />
  );
}

const columnsFor = (base: string): readonly Column<Row>[] => [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ role }) => (
      <PathLink look="quiet" path={`${base}/${role.identifier}`}>
        <Name>{role.name}</Name>
      </PathLink>
    ),
  },
  { key: "identifier", header: "Identifier", cell: ({ role }) => <code>{role.identifier}</code> },
  {
    key: "kind",
    header: "Kind",
    width: "8rem",
    cell: ({ platformManaged }) => (platformManaged ? <Badge icon="lock">Built in</Badge> : "Own"),
  },
  {
    key: "levels",
    header: "Assigned in",
    width: "14rem",
    wideOnly: true,
    cell: ({ role }) => role.allowedScopeLevels.join(", "),
  },
  {
    key: "permissions",
    header: "Permissions",
    width: "8rem",
    align: "end",
    cell: ({ role }) => role.permissions.length,
  },
];
