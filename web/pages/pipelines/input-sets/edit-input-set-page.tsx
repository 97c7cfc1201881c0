import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { inputSetList } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { DocumentPage } from "../../../components/document-editor/document-page.tsx";
import { useDocument, type StoredDocument } from "../../../components/document-editor/use-document.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { inputSetBreadcrumbs } from "./input-set-breadcrumbs.tsx";
import { NOUNS, queryOf, readInputSet, saveInputSet, SCHEMAS, UPDATE, type InputSetKind } from "./input-set-kind.ts";

const route = getRouteApi("/projects/$org/$project/pipelines/$pipeline/input-sets/$inputSet");

export function EditInputSetPage() {
  const pipeline = usePipelineKey();
  const { inputSet } = route.useParams();
  const { kind = "set" } = route.useSearch();
  useTitle(inputSet, "Input sets", pipeline.identifier);
  const stored = useQuery({
    queryKey: ["input-set document", pipeline, kind, inputSet],
    queryFn: () => readInputSet(pipeline, kind, inputSet),
    // The version that the user began to change stays.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (stored.data !== undefined)
    return <Editor key={inputSet} pipeline={pipeline} kind={kind} inputSet={inputSet} stored={stored.data} />;
  if (stored.error === null) return <Skeleton height="24rem" />;
  return (
    <ErrorState
      title={`The ${NOUNS[kind]} could not be loaded`}
      message={messageOf(stored.error)}
      correlationId={stored.error instanceof ApiError ? stored.error.correlationId : undefined}
      onRetry={() => void stored.refetch()}
    />
  );
}

type EditorProps = {
  readonly pipeline: PipelineKey;
  readonly kind: InputSetKind;
  readonly inputSet: string;
  readonly stored: StoredDocument;
};

function Editor({ pipeline, kind, inputSet, stored }: EditorProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const document = useDocument({
    stored,
    draftKey: `input-set.${Object.values(pipeline.params).join(".")}.${inputSet}`,
    save: (body, etag) =>
      saveInputSet(
        pipeline,
        kind,
        { inputSetIdentifier: inputSet, body },
        { headers: etag === undefined ? {} : { "if-match": etag } },
      ),
    load: () => readInputSet(pipeline, kind, inputSet),
    onSaved: () => {
      void queryClient.invalidateQueries({ queryKey: [inputSetList.id] });
      show({ tone: "success", message: `The ${NOUNS[kind]} was saved.` });
    },
  });
  return (
    <DocumentPage
      title={`Edit ${inputSet}`}
      breadcrumbs={inputSetBreadcrumbs(pipeline)}
      noun={NOUNS[kind]}
      schema={SCHEMAS[kind]}
      document={document}
      canSave={useMay(pipeline.scope)(UPDATE[kind], inputSet)}
      request={{
        label: `Save the ${NOUNS[kind]}`,
        operation: UPDATE[kind],
        path: { inputSetIdentifier: inputSet },
        query: queryOf(pipeline),
        body: document.text,
      }}
    />
  );
}
