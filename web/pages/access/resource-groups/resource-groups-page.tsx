import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { resourceGroupCreate, resourceGroupList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Badge } from "../../../ui/badge.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ButtonPathLink, PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch } from "../access-search.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";
import { describeResources, describeScopes } from "./resource-group.ts";

const PAGE_SIZE = 50;
type Row = DataOf<typeof resourceGroupList>["content"][number];

/** Built-in resource groups, and those of the scope. */
export function ResourceGroupsPage() {
  const scope = usePageScope();
  const base = useAccessPath();
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  useTitle("Resource groups", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = {
    ...scope,
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(resourceGroupList, { query }), placeholderData: (former) => former });
  return (
    <ListPage
      title="Resource groups"
      description={<ScopePicker />}
      tabs={<AccessTabs />}
      actions={
        may(resourceGroupCreate) && (
          <ButtonPathLink path={`${base}/new-resource-group`} variant="primary" icon="plus">
            New resource group
          </ButtonPathLink>
        )
      }
      search={search}
      pageSize={PAGE_SIZE}
      columns={columnsFor(`${base}/resource-groups`)}
      rows={list.data?.content}
      total={list.data?.totalItems}
      rowKey={({ resourceGroup }) => resourceGroup.identifier}
      error={list.error}
      onRetry={() => void list.refetch()}
      requests={[{ label: "List resource groups", operation: resourceGroupList, query }]}
      empty={<EmptyState icon="layers" title="No resource groups" />}
    />
  );
}

const columnsFor = (base: string): readonly Column<Row>[] => [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ resourceGroup: { identifier, name } }) => (
      <PathLink look="quiet" path={`${base}/${identifier}`}>
        <Name>{name}</Name>
      </PathLink>
    ),
  },
  {
    key: "kind",
    header: "Kind",
    width: "8rem",
    cell: ({ platformManaged }) => (platformManaged ? <Badge icon="lock">Built in</Badge> : "Own"),
  },
  { key: "scopes", header: "In", cell: ({ resourceGroup }) => describeScopes(resourceGroup) },
  { key: "resources", header: "Resources", cell: ({ resourceGroup }) => describeResources(resourceGroup) },
];
