import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { parse } from "yaml";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { inputSetList, pipelineRuntimeInputs } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { DocumentPage } from "../../../components/document-editor/document-page.tsx";
import { useDocument } from "../../../components/document-editor/use-document.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { inputSetBreadcrumbs } from "./input-set-breadcrumbs.tsx";
import {
  CREATE,
  createInputSet,
  inputSetYaml,
  NOUNS,
  overlayYaml,
  queryOf,
  SCHEMAS,
  type InputSetKind,
} from "./input-set-kind.ts";

const route = getRouteApi("/projects/$org/$project/pipelines/$pipeline/input-sets/new");

export function NewInputSetPage() {
  const pipeline = usePipelineKey();
  const { kind = "set" } = route.useSearch();
  useTitle(`New ${NOUNS[kind]}`, pipeline.identifier);
  const template = useQuery({
    queryKey: ["input-set template", pipeline, kind],
    queryFn: () => templateOf(pipeline, kind),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (template.data !== undefined)
    return <NewInputSet key={kind} pipeline={pipeline} kind={kind} template={template.data} />;
  if (template.error === null) return <Skeleton height="24rem" />;
  return (
    <ErrorState
      title="The inputs could not be loaded"
      message={messageOf(template.error)}
      onRetry={() => void template.refetch()}
    />
  );
}

type Template = { readonly text: string; readonly hasInputs: boolean };

/** All inputs of the pipeline with their places, or an overlay of its first input set. */
async function templateOf(pipeline: PipelineKey, kind: InputSetKind): Promise<Template> {
  if (kind === "overlay") {
    const query = { ...queryOf(pipeline), pageSize: 1, inputSetType: "INPUT_SET" as const };
    const { content } = await fetchData(inputSetList, { query });
    return {
      text: overlayYaml(
        pipeline,
        content.map(({ identifier }) => identifier),
      ),
      hasInputs: true,
    };
  }
  const { inputSetTemplateYaml } = await fetchData(pipelineRuntimeInputs, {
    path: { identifier: pipeline.identifier },
    query: pipeline.scope,
  });
  const document = parse(inputSetTemplateYaml ?? "") as { readonly pipeline: unknown } | null;
  const named = { name: "New input set", identifier: "new_input_set" };
  const values = document?.pipeline ?? { identifier: pipeline.identifier };
  return { text: inputSetYaml(pipeline, { ...named, pipeline: values }), hasInputs: document !== null };
}

type NewInputSetProps = {
  readonly pipeline: PipelineKey;
  readonly kind: InputSetKind;
  readonly template: Template;
};

function NewInputSet({ pipeline, kind, template }: NewInputSetProps) {
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const show = useToast();
  const stored = { text: template.text, etag: undefined };
  const document = useDocument({
    stored,
    draftKey: `${kind}.${Object.values(pipeline.params).join(".")}`,
    save: async (body) => {
      const { name } = await createInputSet(pipeline, kind, body);
      await queryClient.invalidateQueries({ queryKey: [inputSetList.id] });
      show({ tone: "success", message: `The ${NOUNS[kind]} ${name} was created.` });
      await navigate({ to: "/projects/$org/$project/pipelines/$pipeline/input-sets", params: pipeline.params });
    },
    load: () => Promise.resolve(stored),
    onSaved: () => {},
  });
  return (
    <DocumentPage
      title={`New ${NOUNS[kind]}`}
      breadcrumbs={inputSetBreadcrumbs(pipeline)}
      noun={NOUNS[kind]}
      schema={SCHEMAS[kind]}
      document={document}
      isNew
      canSave={useMay(pipeline.scope)(CREATE[kind])}
      request={{
        label: `Create the ${NOUNS[kind]}`,
        operation: CREATE[kind],
        query: queryOf(pipeline),
        body: document.text,
      }}
    >
      {!template.hasInputs && (
        <Notice tone="waiting">This pipeline asks for no inputs. An input set of it has nothing to give.</Notice>
      )}
    </DocumentPage>
  );
}
