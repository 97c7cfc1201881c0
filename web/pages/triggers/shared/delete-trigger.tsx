import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import { triggerDelete } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { readTriggersAgain } from "./read-triggers-again.ts";
import type { TriggerKey } from "./trigger-key.ts";

type DeleteTriggerProps = {
  readonly triggerKey: TriggerKey;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
};

export function DeleteTrigger({ triggerKey, name, onClose, onDeleted }: DeleteTriggerProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () => send(triggerDelete, triggerKey),
    onSuccess: async () => {
      show({ tone: "success", message: `Trigger ${name} was deleted.` });
      onClose();
      onDeleted?.();
      await readTriggersAgain(queryClient);
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete trigger ${name}?`}
      action="Delete trigger"
      typedName={triggerKey.path.identifier}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      The address of its webhook stops at once and cannot be had again. Events that wait start nothing; executions that
      it has started go on.
    </ConfirmDialog>
  );
}
