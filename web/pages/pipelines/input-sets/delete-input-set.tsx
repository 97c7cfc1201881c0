import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import { inputSetDelete, inputSetList } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { PipelineKey } from "../shared/pipeline-key.ts";
import { NOUNS, queryOf, type InputSetRow } from "./input-set-kind.ts";

type DeleteInputSetProps = {
  readonly pipeline: PipelineKey;
  readonly row: InputSetRow;
  readonly onClose: () => void;
};

export function DeleteInputSet({ pipeline, row, onClose }: DeleteInputSetProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const noun = NOUNS[row.inputSetType === "INPUT_SET" ? "set" : "overlay"];
  const remove = useMutation({
    mutationFn: () => send(inputSetDelete, { path: { inputSetIdentifier: row.identifier }, query: queryOf(pipeline) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [inputSetList.id] });
      show({ tone: "success", message: `The ${noun} ${row.name} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete ${noun} ${row.name}?`}
      action={`Delete ${noun}`}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Triggers that name it start nothing until it is back. This cannot be undone.
    </ConfirmDialog>
  );
}
