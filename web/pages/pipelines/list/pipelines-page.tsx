import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { pipelineCreate, pipelineList, type PipelineContent } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeletePipeline } from "../shared/delete-pipeline.tsx";
import { LiveNotice } from "../shared/live-notice.tsx";
import { useLiveRuns } from "../shared/use-live-runs.ts";
import { pipelineColumns } from "./pipeline-columns.tsx";

const PAGE_SIZE = 25;
const route = getRouteApi("/projects/$org/$project/pipelines");

export function PipelinesPage() {
  const scope = useProjectScope();
  const search = route.useSearch();
  const params = route.useParams();
  const may = useMay(scope);
  const [deleted, setDeleted] = useState<PipelineContent>();
  useTitle("Pipelines", scope.projectIdentifier);
  const connection = useLiveRuns(scope);
  const query = {
    ...scope,
    size: PAGE_SIZE,
    page: (search.page ?? 1) - 1,
    sort: "lastUpdatedAt,DESC" as const,
    ...(search.q ? { searchTerm: search.q } : {}),
  };
  const list = useQuery({ ...dataQuery(pipelineList, { query }), placeholderData: (former) => former });
  const create = may(pipelineCreate) && (
    <ButtonLink variant="primary" icon="plus" to="/projects/$org/$project/pipelines/new" params={params}>
      New pipeline
    </ButtonLink>
  );
  return (
    <>
      <ListPage
        title="Pipelines"
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={pipelineColumns({ may, params, onDelete: setDeleted })}
        rows={list.data?.content}
        total={list.data?.totalElements}
        rowKey={({ identifier }) => identifier}
        error={list.error}
        onRetry={() => void list.refetch()}
        filters={<LiveNotice connection={connection} />}
        requests={[{ label: "List pipelines", operation: pipelineList, query }]}
        empty={
          <EmptyState icon="pipeline" title="No pipelines yet" actions={create}>
            A pipeline describes in stages and steps how software is built, approved and deployed.
          </EmptyState>
        }
      />
      {deleted && <DeletePipeline scope={scope} pipeline={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}
