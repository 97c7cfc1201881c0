import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf } from "../../../api/api-error.ts";
import type { AnyOperation } from "../../../api/operation.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";

type DeleteItemProps = {
  /** The verb and the kind: Delete role */
  readonly action: string;
  readonly name: string;
  /** What happened: was deleted */
  readonly outcome: string;
  readonly typedName?: string | undefined;
  readonly danger?: boolean | undefined;
  readonly remove: () => Promise<unknown>;
  /** Lists that have the item. */
  readonly lists: readonly AnyOperation[];
  readonly onClose: () => void;
  /** Before the lists are read again, so that a page of the item does not ask for it. */
  readonly onRemoved?: (() => void) | undefined;
  readonly children: ReactNode;
};

/** Asks before something ends that cannot be brought back. */
export function DeleteItem(props: DeleteItemProps) {
  const { action, name, outcome, typedName, danger, remove, lists, onClose, onRemoved, children } = props;
  const queryClient = useQueryClient();
  const show = useToast();
  const end = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      onClose();
      onRemoved?.();
      show({ tone: "success", message: `${name} ${outcome}.` });
      await Promise.all(lists.map(({ id }) => queryClient.invalidateQueries({ queryKey: [id] })));
    },
  });
  return (
    <ConfirmDialog
      open
      title={`${action} ${name}?`}
      action={action}
      typedName={typedName}
      danger={danger}
      busy={end.isPending}
      error={end.error === null ? undefined : messageOf(end.error)}
      onConfirm={() => end.mutate()}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
