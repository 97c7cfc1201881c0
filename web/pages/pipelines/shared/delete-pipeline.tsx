import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import { pipelineDelete, pipelineList } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";

type DeletePipelineProps = {
  readonly scope: Required<Scope>;
  readonly pipeline: { readonly identifier: string; readonly name: string };
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
};

export function DeletePipeline({ scope, pipeline, onClose, onDeleted }: DeletePipelineProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () => send(pipelineDelete, { path: { identifier: pipeline.identifier }, query: scope }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [pipelineList.id] });
      show({ tone: "success", message: `Pipeline ${pipeline.name} was deleted.` });
      onClose();
      onDeleted?.();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete pipeline ${pipeline.name}?`}
      action="Delete pipeline"
      typedName={pipeline.identifier}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Its versions, input sets and triggers are deleted with it, and its webhooks stop. Executions stay; queued ones
      fail. This cannot be undone.
    </ConfirmDialog>
  );
}
