import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { triggerCreate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { DocumentPage } from "../../../components/document-editor/document-page.tsx";
import { useDocument } from "../../../components/document-editor/use-document.ts";
import { PipelinePicker } from "../../../components/pipeline-picker.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { FormField } from "../../../ui/form-field.tsx";
import { Link } from "../../../ui/link.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { maySaveTrigger } from "../shared/may-trigger.ts";
import { readTriggersAgain } from "../shared/read-triggers-again.ts";
import { paramsOf, triggerKey } from "../shared/trigger-key.ts";
import styles from "../triggers.module.css";
import { newTriggerYaml } from "./template.ts";

const route = getRouteApi("/projects/$org/$project/triggers/new");

/** A trigger belongs to a pipeline, which is chosen first. */
export function NewTriggerPage() {
  const { pipeline } = route.useSearch();
  const scope = useProjectScope();
  useTitle("New trigger", scope.projectIdentifier);
  if (pipeline !== undefined) return <NewTrigger key={pipeline} pipeline={pipeline} />;
  return (
    <>
      <PageHeader breadcrumbs={[<ToList key="list" />]} title="New trigger" />
      <div className={styles.page}>
        <ChoosePipeline value="" />
      </div>
    </>
  );
}

function ToList() {
  const params = route.useParams();
  return (
    <Link to="/projects/$org/$project/triggers" params={params}>
      Triggers
    </Link>
  );
}

function ChoosePipeline({ value }: { readonly value: string }) {
  const navigate = route.useNavigate();
  return (
    <div className={styles.picker}>
      <FormField label="Pipeline" hint="Each call of the webhook starts it. It stays with the trigger.">
        <PipelinePicker
          value={value}
          onChange={(pipeline) => void navigate({ search: pipeline === "" ? {} : { pipeline } })}
        />
      </FormField>
    </div>
  );
}

function NewTrigger({ pipeline }: { readonly pipeline: string }) {
  const scope = useProjectScope();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const show = useToast();
  const may = useMay(scope);
  const query = { ...scope, targetIdentifier: pipeline };
  const [stored] = useState(() => ({ text: newTriggerYaml(scope, pipeline), etag: undefined }));
  const document = useDocument({
    stored,
    draftKey: `trigger.${scope.orgIdentifier}.${scope.projectIdentifier}.${pipeline}`,
    save: async (text) => {
      const { identifier, name } = await fetchData(triggerCreate, { query, body: text });
      await readTriggersAgain(queryClient);
      show({ tone: "success", message: `Trigger ${name} was created.` });
      await navigate({
        to: "/projects/$org/$project/triggers/$pipeline/$trigger",
        params: paramsOf(triggerKey(scope, pipeline, identifier)),
      });
    },
    load: () => Promise.resolve(stored),
    onSaved: () => {},
  });
  return (
    <DocumentPage
      title="New trigger"
      breadcrumbs={[<ToList key="list" />]}
      noun="trigger"
      schema="Triggers"
      document={document}
      isNew
      canSave={maySaveTrigger(may, pipeline)}
      request={{ label: "Create the trigger", operation: triggerCreate, query, body: document.text }}
    >
      <ChoosePipeline value={pipeline} />
    </DocumentPage>
  );
}
