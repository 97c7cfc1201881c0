import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { dataQuery } from "../../api/client.ts";
import { auditExport, auditList } from "../../api/operations.gen.ts";
import { useMay } from "../../api/permissions.ts";
import { FilterBar } from "../../components/filter-bar.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { usePageScope } from "../../routes/scope.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useTitle } from "../../util/use-title.ts";
import { columnsFor } from "./audit-columns.tsx";
import { auditFilters, searchOf, valuesOf } from "./audit-filters.tsx";
import { PAGE_SIZE, requestOf } from "./audit-request.ts";
import { isFiltered, parseAuditSearch, readEntryKey, type AuditSearch } from "./audit-search.ts";
import { EntryPanel } from "./entry-panel.tsx";
import { ExportDialog } from "./export-dialog.tsx";

const QUERY = `{ audits(limit: 50) { nodes { id triggeredAt
  ... on UserChangeSet { triggeredBy { name email } }
  changes { resourceType resourceId operationType failure fields { field before after } } } } }`;

/** The changes and refused attempts of the account, or of one project. */
export function AuditPage() {
  const { orgIdentifier, projectIdentifier } = usePageScope();
  const scope = useMemo(
    () => (orgIdentifier === undefined || projectIdentifier === undefined ? {} : { orgIdentifier, projectIdentifier }),
    [orgIdentifier, projectIdentifier],
  );
  const isOfProject = projectIdentifier !== undefined;
  const given = useSearch({ strict: false });
  const search = useMemo(() => parseAuditSearch(given), [given]);
  const navigate = useNavigate();
  const may = useMay({});
  const [isExporting, setIsExporting] = useState(false);
  useTitle(...(isOfProject ? ["Audit trail", projectIdentifier] : ["Audit trail"]));
  // The key of the query must not change while the page is shown, also if the filter is relative to now.
  const request = useMemo(() => requestOf(scope, search, Date.now()), [scope, search]);
  const list = useQuery({ ...dataQuery(auditList, request), placeholderData: (former) => former });
  const change = (next: AuditSearch): void => void navigate({ to: ".", search: next });
  const opened = readEntryKey(search.entry);
  return (
    <>
      <ListPage
        title="Audit trail"
        search={search}
        hideSearch
        pageSize={PAGE_SIZE}
        columns={columnsFor(isOfProject)}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ auditId }) => auditId}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[
          { label: "List the audit trail", operation: auditList, ...request },
          { label: "Export the audit trail", operation: auditExport },
        ]}
        queries={[{ label: "List the audit trail", query: QUERY }]}
        actions={
          !isOfProject && (
            <Button icon="download" onClick={() => setIsExporting(true)}>
              Export
            </Button>
          )
        }
        filters={
          <FilterBar
            filters={auditFilters(may, isOfProject)}
            values={valuesOf(search)}
            onChange={(values) => change(searchOf(values, search.q))}
            search={
              <SearchField
                label="Search entries"
                value={search.q ?? ""}
                onSearch={(q) => change(searchOf(valuesOf(search), q))}
              />
            }
          />
        }
        empty={
          isFiltered(search) ? (
            <EmptyState
              icon="filter"
              title="No entries match the filters"
              actions={<Button onClick={() => change({})}>Clear filters</Button>}
            />
          ) : (
            <EmptyState icon="history" title="No entries yet">
              Each change, and each attempt that was refused, becomes an entry.
            </EmptyState>
          )
        }
      />
      {opened && (
        <EntryPanel
          scope={scope}
          entryKey={opened}
          known={list.data?.content.find(({ auditId }) => auditId === opened.id)}
          onClose={() => change((({ entry: _, ...rest }) => rest)(search))}
          onFilter={change}
        />
      )}
      {isExporting && <ExportDialog when={search.when} onClose={() => setIsExporting(false)} />}
    </>
  );
}
