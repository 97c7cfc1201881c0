import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { request } from "../../../api/client.ts";
import { triggerGet, triggerUpdate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { DocumentPage } from "../../../components/document-editor/document-page.tsx";
import { useDocument, type StoredDocument } from "../../../components/document-editor/use-document.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { maySaveTrigger } from "../shared/may-trigger.ts";
import { readTriggersAgain } from "../shared/read-triggers-again.ts";
import { paramsOf, readTrigger, useTriggerKey, type TriggerKey } from "../shared/trigger-key.ts";

export function EditTriggerPage() {
  const key = useTriggerKey();
  useTitle(`Edit ${key.path.identifier}`, key.query.projectIdentifier);
  const stored = useQuery({
    queryKey: [triggerGet.id, key, "document"],
    queryFn: () => readTrigger(key),
    // The version that the user began to change stays.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (stored.data !== undefined) return <Editor key={JSON.stringify(key)} triggerKey={key} stored={stored.data} />;
  if (stored.error === null) return <Skeleton height="24rem" />;
  return (
    <ErrorState
      title="The trigger could not be loaded"
      message={messageOf(stored.error)}
      correlationId={stored.error instanceof ApiError ? stored.error.correlationId : undefined}
      onRetry={() => void stored.refetch()}
    />
  );
}

type EditorProps = { readonly triggerKey: TriggerKey; readonly stored: StoredDocument };

function Editor({ triggerKey, stored }: EditorProps) {
  const scope = useProjectScope();
  const params = paramsOf(triggerKey);
  const queryClient = useQueryClient();
  const show = useToast();
  const may = useMay(scope);
  const document = useDocument({
    stored,
    draftKey: `trigger.${Object.values(params).join(".")}`,
    save: (text, etag) =>
      request(
        triggerUpdate,
        { ...triggerKey, body: text },
        { headers: etag === undefined ? {} : { "if-match": etag } },
      ),
    load: () => readTrigger(triggerKey),
    onSaved: () => {
      void readTriggersAgain(queryClient);
      show({ tone: "success", message: "The trigger was saved." });
    },
  });
  return (
    <DocumentPage
      title={`Edit ${params.trigger}`}
      breadcrumbs={[
        <Link key="list" to="/projects/$org/$project/triggers" params={params}>
          Triggers
        </Link>,
        <Link key="page" to="/projects/$org/$project/triggers/$pipeline/$trigger" params={params}>
          <Name>{params.trigger}</Name>
        </Link>,
      ]}
      noun="trigger"
      schema="Triggers"
      document={document}
      canSave={maySaveTrigger(may, params.pipeline)}
      request={{ label: "Save the trigger", operation: triggerUpdate, ...triggerKey, body: document.text }}
    />
  );
}
