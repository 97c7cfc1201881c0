import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import { pipelineListVersions } from "../../../api/operations.gen.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Pagination } from "../../../ui/pagination.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { ExactTime, RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { CompareVersions } from "./compare-versions.tsx";
import styles from "./versions-page.module.css";

const PAGE_SIZE = 25;
const route = getRouteApi("/projects/$org/$project/pipelines/$pipeline/versions");
type Version = DataOf<typeof pipelineListVersions>["content"][number];

/** The saved versions of a pipeline, and how one differs from another. */
export function VersionsPage() {
  const key = usePipelineKey();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle("Versions", key.identifier, key.scope.projectIdentifier);
  const query = { ...key.scope, size: PAGE_SIZE, page: (search.page ?? 1) - 1 };
  const list = useQuery({
    ...dataQuery(pipelineListVersions, { path: { identifier: key.identifier }, query }),
    placeholderData: (former) => former,
  });
  if (list.error !== null)
    return (
      <ErrorState
        title="The versions could not be loaded"
        message={messageOf(list.error)}
        onRetry={() => void list.refetch()}
      />
    );
  const newest = list.data?.content[0]?.version;
  const version = search.version ?? newest;
  const before = search.with ?? (version === undefined ? undefined : version - 1);
  return (
    <div className={styles.page}>
      <div>
        <Table
          label="Versions"
          density="compact"
          columns={columnsFor(key, version)}
          rows={list.data?.content}
          rowKey={(row) => String(row.version)}
        />
        {list.data !== undefined && list.data.totalElements > PAGE_SIZE && (
          <Pagination
            label="Versions"
            page={(search.page ?? 1) - 1}
            pageSize={PAGE_SIZE}
            total={list.data.totalElements}
            onChange={(page) => void navigate({ search: page > 0 ? { page: page + 1 } : {} })}
          />
        )}
      </div>
      {version !== undefined && before !== undefined && (
        <CompareVersions key={`${before} ${version}`} pipeline={key} before={before} version={version} />
      )}
    </div>
  );
}

function columnsFor({ params }: PipelineKey, selected: number | undefined): readonly Column<Version>[] {
  return [
    {
      key: "version",
      header: "Version",
      isTitle: true,
      cell: ({ version }) => (
        <Link
          look="quiet"
          to="/projects/$org/$project/pipelines/$pipeline/versions"
          params={params}
          search={(former) => ({ ...(former.page === undefined ? {} : { page: former.page }), version })}
          aria-current={version === selected ? "true" : undefined}
          className={version === selected ? styles.selected : undefined}
        >
          Version {version}
        </Link>
      ),
    },
    { key: "saved", header: "Saved", cell: ({ createdAt }) => <ExactTime at={createdAt} />, wideOnly: true },
    { key: "ago", header: "Age", align: "end", cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  ];
}
