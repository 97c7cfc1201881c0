import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { request } from "../../../api/client.ts";
import { pipelineGet, pipelineUpdateV2 } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { useDocument, type StoredDocument } from "../../../components/document-editor/use-document.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { EditorHeader } from "./editor-header.tsx";
import { PipelineEditor } from "./pipeline-editor.tsx";

export function EditPipelinePage() {
  const key = usePipelineKey();
  useTitle(`Edit ${key.identifier}`, key.scope.projectIdentifier);
  const stored = useQuery({
    queryKey: [pipelineGet.id, key.scope, key.identifier, "document"],
    queryFn: () => readPipeline(key),
    // The version that the user began to change stays.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (stored.data !== undefined) return <Editor key={key.identifier} pipeline={key} stored={stored.data} />;
  if (stored.error === null) return <Skeleton height="24rem" />;
  return (
    <ErrorState
      title="The pipeline could not be loaded"
      message={messageOf(stored.error)}
      correlationId={stored.error instanceof ApiError ? stored.error.correlationId : undefined}
      onRetry={() => void stored.refetch()}
    />
  );
}

async function readPipeline({ identifier, scope }: PipelineKey): Promise<StoredDocument> {
  const { answer, etag } = await request(pipelineGet, { path: { identifier }, query: scope });
  return { text: answer.data.yamlPipeline, etag };
}

function Editor({ pipeline, stored }: { readonly pipeline: PipelineKey; readonly stored: StoredDocument }) {
  const { identifier, scope } = pipeline;
  const queryClient = useQueryClient();
  const show = useToast();
  const canEdit = useMay(scope)(pipelineUpdateV2);
  const document = useDocument({
    stored,
    draftKey: `pipeline.${scope.orgIdentifier}.${scope.projectIdentifier}.${identifier}`,
    save: (text, etag) =>
      request(
        pipelineUpdateV2,
        { path: { identifier }, query: scope, body: text },
        { headers: etag === undefined ? {} : { "if-match": etag } },
      ),
    load: () => readPipeline(pipeline),
    onSaved: () => {
      void queryClient.invalidateQueries({ predicate: ({ queryKey: [id] }) => String(id).startsWith("pipeline.") });
      show({ tone: "success", message: "The pipeline was saved." });
    },
  });
  return (
    <>
      <EditorHeader
        title={`Edit ${identifier}`}
        scope={scope}
        pipeline={identifier}
        document={document}
        action="Save"
        canSave={canEdit}
        request={{
          label: "Save the pipeline",
          operation: pipelineUpdateV2,
          path: { identifier },
          query: scope,
          body: document.text,
        }}
      />
      <PipelineEditor scope={scope} document={document} canEdit={canEdit} />
    </>
  );
}
