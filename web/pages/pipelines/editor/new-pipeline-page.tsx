import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { fetchData } from "../../../api/client.ts";
import { pipelineCreateV2, pipelineList } from "../../../api/operations.gen.ts";
import { useDocument } from "../../../components/document-editor/use-document.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { useToast } from "../../../ui/toast.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { EditorHeader } from "./editor-header.tsx";
import { PipelineEditor } from "./pipeline-editor.tsx";
import { newPipelineYaml } from "./template.ts";

export function NewPipelinePage() {
  const scope = useProjectScope();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const show = useToast();
  useTitle("New pipeline", scope.projectIdentifier);
  const [stored] = useState(() => ({ text: newPipelineYaml(scope), etag: undefined }));
  const document = useDocument({
    stored,
    draftKey: `pipeline.${scope.orgIdentifier}.${scope.projectIdentifier}`,
    save: async (text) => {
      const { identifier } = await fetchData(pipelineCreateV2, { query: scope, body: text });
      await queryClient.invalidateQueries({ queryKey: [pipelineList.id] });
      show({ tone: "success", message: `Pipeline ${identifier} was created.` });
      await navigate({
        to: "/projects/$org/$project/pipelines/$pipeline",
        params: { org: scope.orgIdentifier, project: scope.projectIdentifier, pipeline: identifier },
      });
    },
    load: () => Promise.resolve(stored),
    onSaved: () => {},
  });
  return (
    <>
      <EditorHeader
        title="New pipeline"
        scope={scope}
        document={document}
        action="Create pipeline"
        canSave
        request={{ label: "Create the pipeline", operation: pipelineCreateV2, query: scope, body: document.text }}
      />
      <PipelineEditor scope={scope} document={document} canEdit />
    </>
  );
}
