import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import {
  executionStageChoices,
  inputSetList,
  pipelineGet,
  pipelineRuntimeInputs,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey } from "../shared/pipeline-key.ts";
import { RunForm } from "./run-form.tsx";

/** Asks for the runtime inputs of a pipeline and starts it. */
export function RunPage() {
  const key = usePipelineKey();
  const { identifier, scope, params } = key;
  const may = useMay(scope);
  useTitle(`Run ${identifier}`, scope.projectIdentifier);
  const inputs = useQuery({
    ...dataQuery(pipelineRuntimeInputs, { path: { identifier }, query: scope }),
    // What is typed belongs to these inputs.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const ofPipeline = { ...scope, pipelineIdentifier: identifier };
  const sets = useQuery({
    ...dataQuery(inputSetList, { query: { ...ofPipeline, pageSize: 100 } }),
    enabled: may(inputSetList),
  });
  const saved = useQuery(dataQuery(pipelineGet, { path: { identifier }, query: scope }));
  const takesStages = /^\s+allowStageExecutions:\s*true\b/m.test(saved.data?.yamlPipeline ?? "");
  const stages = useQuery({ ...dataQuery(executionStageChoices, { query: ofPipeline }), enabled: takesStages });
  return (
    <>
      <PageHeader
        breadcrumbs={[
          <Link key="list" to="/projects/$org/$project/pipelines" params={params}>
            Pipelines
          </Link>,
          <Link key="page" to="/projects/$org/$project/pipelines/$pipeline" params={params}>
            <Name>{identifier}</Name>
          </Link>,
        ]}
        title={<Name>{`Run ${identifier}`}</Name>}
      />
      {inputs.error !== null ? (
        <ErrorState
          title="The inputs could not be loaded"
          message={messageOf(inputs.error)}
          onRetry={() => void inputs.refetch()}
        />
      ) : inputs.data === undefined ? (
        <SkeletonLines lines={6} />
      ) : (
        <RunForm
          pipeline={key}
          inputs={inputs.data.inputs}
          template={inputs.data.inputSetTemplateYaml}
          inputSets={sets.data?.content ?? []}
          stages={stages.data ?? []}
        />
      )}
    </>
  );
}
