import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery, fetchData, type DataOf } from "../../../api/client.ts";
import { serviceAccountAggregates, serviceAccountCreate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { PathLink } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { parseAccessSearch } from "../access-search.ts";
import { useAccessPath } from "../shared/access-path.ts";
import { AccessTabs } from "../shared/access-tabs.tsx";
import { EditDetails } from "../shared/edit-details.tsx";
import { ScopePicker } from "../shared/scope-picker.tsx";

const PAGE_SIZE = 50;
type Row = DataOf<typeof serviceAccountAggregates>["content"][number];

export function ServiceAccountsPage() {
  const scope = usePageScope();
  const base = `${useAccessPath()}/service-accounts`;
  const search = parseAccessSearch(useSearch({ strict: false }));
  const may = useMay(scope);
  const navigate = useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  useTitle("Service accounts", scope.projectIdentifier ?? scope.orgIdentifier ?? "Account");
  const query = {
    ...scope,
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(serviceAccountAggregates, { query }), placeholderData: (former) => former });
  const create = may(serviceAccountCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setIsCreating(true)}>
      New service account
    </Button>
  );
  return (
    <>
      <ListPage
        title="Service accounts"
        description={<ScopePicker />}
        tabs={<AccessTabs />}
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={columnsFor(base)}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ serviceAccount }) => serviceAccount.identifier}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List service accounts", operation: serviceAccountAggregates, query }]}
        empty={
          <EmptyState icon="terminal" title="No service accounts yet" actions={create}>
            Programs use the API as a service account, so that nothing stops when a person leaves.
          </EmptyState>
        }
      />
      {isCreating && (
        <EditDetails
          noun="service account"
          former={undefined}
          lists={[serviceAccountAggregates]}
          save={(details) => fetchData(serviceAccountCreate, { query: scope, body: { ...scope, ...details } })}
          onClose={() => setIsCreating(false)}
          onSaved={({ identifier }) => void navigate({ to: `${base}/${identifier}` as "/" })}
        />
      )}
    </>
  );
}

const columnsFor = (base: string): readonly Column<Row>[] => [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ serviceAccount: { identifier, name } }) => (
      <PathLink look="quiet" path={`${base}/${identifier}`}>
        <Name>{name}</Name>
      </PathLink>
    ),
  },
  { key: "identifier", header: "Identifier", cell: ({ serviceAccount }) => <code>{serviceAccount.identifier}</code> },
  { key: "tokens", header: "Tokens", width: "6rem", align: "end", cell: ({ tokensCount }) => tokensCount },
  {
    key: "changed",
    header: "Changed",
    width: "9rem",
    align: "end",
    cell: ({ lastModifiedAt }) => <RelativeTime at={lastModifiedAt} />,
  },
];
