import { getRouteApi } from "@tanstack/react-router";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { executionFollowProject, executionList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { CopyAs } from "../../../components/copy-as.tsx";
import type { Summary } from "../../../components/execution-store.ts";
import { FilterBar } from "../../../components/filter-bar.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { CursorPagination } from "../../../ui/pagination.tsx";
import { SearchField } from "../../../ui/search-field.tsx";
import { Table } from "../../../ui/table.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { columnsFor } from "./columns.tsx";
import styles from "./executions-page.module.css";
import { PAGE_SIZE, writeCursor } from "./executions-request.ts";
import { isFiltered, type ExecutionsSearch } from "./executions-search.ts";
import { executionFilters, searchOf, valuesOf } from "./filters.tsx";
import { useLiveExecutions } from "./use-live-executions.ts";

const route = getRouteApi("/projects/$org/$project/executions");
const rowKey = (row: Summary): string => row.planExecutionId;

export function ExecutionsPage() {
  const scope = useProjectScope();
  useTitle("Executions", scope.projectIdentifier);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const live = useLiveExecutions(scope, search);
  const change = (next: ExecutionsSearch): void => void navigate({ search: next });
  const clear = (): void => change({});
  return (
    <>
      <PageHeader
        title="Executions"
        actions={
          <CopyAs
            requests={[
              { label: "List executions", operation: executionList, ...live.request },
              { label: "Follow executions", operation: executionFollowProject, query: scope },
            ]}
            queries={[
              {
                label: "List executions",
                query:
                  "{ executions(limit: 20) { nodes { id status startedAt ... on PipelineExecution { pipeline { name } } } } }",
              },
            ]}
          />
        }
      />
      <ConnectionLost state={live.connection} />
      <Tools search={search} onChange={change} />
      <div className={styles.live} aria-live="polite">
        {live.waiting > 0 && (
          <Button
            variant="primary"
            size="small"
            icon="arrow-up"
            onClick={() => {
              live.showNew();
              globalThis.scrollTo({ top: 0 });
            }}
          >
            {live.waiting} new
          </Button>
        )}
      </div>
      {live.list.error === null ? (
        <Table
          label="Executions"
          columns={columnsFor(scope)}
          rows={live.rows}
          rowKey={rowKey}
          placeholderRows={10}
          empty={<NoExecutions search={search} onClear={clear} />}
        />
      ) : (
        <ErrorState
          title="The executions could not be loaded"
          message={messageOf(live.list.error)}
          correlationId={live.list.error instanceof ApiError ? live.list.error.correlationId : undefined}
          onRetry={() => void live.list.refetch()}
        />
      )}
      <Foot live={live} search={search} onChange={change} />
    </>
  );
}

type ToolsProps = { readonly search: ExecutionsSearch; readonly onChange: (search: ExecutionsSearch) => void };

function Tools({ search, onChange }: ToolsProps) {
  const scope = useProjectScope();
  const may = useMay(scope);
  return (
    <div className={styles.tools}>
      <FilterBar
        filters={executionFilters(scope, may)}
        values={valuesOf(search)}
        onChange={(values) => onChange(searchOf(values, search.q))}
        search={
          <SearchField
            label="Search pipelines"
            value={search.q ?? ""}
            onSearch={(q) => onChange(searchOf(valuesOf(search), q === "" ? undefined : q))}
          />
        }
      />
    </div>
  );
}

const pipelinesPath = (org: string, project: string): string => `/projects/${org}/${project}/pipelines`;

function NoExecutions({ search, onClear }: { readonly search: ExecutionsSearch; readonly onClear: () => void }) {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  if (search.before !== undefined || isFiltered(search))
    return (
      <EmptyState
        icon="filter"
        title={isFiltered(search) ? "No executions match the filters" : "No older executions"}
        actions={<Button onClick={onClear}>{isFiltered(search) ? "Clear filters" : "Show the newest"}</Button>}
      />
    );
  return (
    <EmptyState
      icon="activity"
      title="No executions yet"
      actions={
        <ButtonLink variant="primary" icon="pipeline" to={pipelinesPath(org, project)}>
          Open pipelines
        </ButtonLink>
      }
    >
      An execution is one run of a pipeline, started by a person or a trigger. Run a pipeline to see it here.
    </EmptyState>
  );
}

/** The pages that led to an older one, for the way back. Addresses that were sent to others lead to the newest. */
const newerOf = new Map<string, string | undefined>();

type FootProps = ToolsProps & { readonly live: ReturnType<typeof useLiveExecutions> };

function Foot({ live, search, onChange }: FootProps) {
  const page = live.list.data;
  const last = live.rows?.at(-1);
  if (page === undefined || last === undefined) return null;
  const { before } = search;
  const hasOlder = page.lastSeenExecutionId !== null || (live.rows?.length ?? 0) > PAGE_SIZE;
  const showOlder = (): void => {
    const cursor = writeCursor({
      lastSeenExecutionId: last.planExecutionId,
      lastSeenStartTime: last.startTs ?? last.createdAt,
    });
    newerOf.set(cursor, before);
    onChange({ ...search, before: cursor });
    globalThis.scrollTo({ top: 0 });
  };
  const showNewer = (): void => {
    const { before: _, ...others } = search;
    const newer = newerOf.get(before ?? "");
    onChange(newer === undefined ? others : { ...others, before: newer });
    globalThis.scrollTo({ top: 0 });
  };
  return (
    <div className={styles.foot}>
      <p className={styles.count}>{before === undefined && countText(page.totalElements)}</p>
      {(before !== undefined || hasOlder) && (
        <CursorPagination
          label="executions"
          onNewer={before === undefined ? undefined : showNewer}
          onOlder={hasOlder ? showOlder : undefined}
          busy={live.list.isPlaceholderData}
        />
      )}
    </div>
  );
}

const countText = (total: number): string =>
  total >= 1_000 ? "1,000+ executions" : `${total} ${total === 1 ? "execution" : "executions"}`;
