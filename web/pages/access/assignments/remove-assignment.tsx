import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { roleAssignmentDelete } from "../../../api/operations.gen.ts";
import type { Scope } from "../../../api/permissions.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { invalidateAssignments } from "./invalidate.ts";

export type RemovedAssignment = {
  readonly identifier: string;
  /** Names, for the question. */
  readonly role: string;
  readonly principal: string;
};

type RemoveAssignmentProps = {
  readonly scope: Scope;
  readonly removed: RemovedAssignment;
  readonly onClose: () => void;
};

export function RemoveAssignment({ scope, removed, onClose }: RemoveAssignmentProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () => fetchData(roleAssignmentDelete, { path: { identifier: removed.identifier }, query: scope }),
    onSuccess: async () => {
      await invalidateAssignments(queryClient);
      show({ tone: "success", message: `Role ${removed.role} was removed from ${removed.principal}.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Remove role ${removed.role} from ${removed.principal}?`}
      action="Remove role"
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      What only this role permits is refused within a second, and triggers that need it start nothing.
    </ConfirmDialog>
  );
}
