import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import type { Scope } from "../../../api/permissions.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { ResourceKind } from "./resource-kind.ts";

type DeleteResourceProps<Row> = {
  readonly kind: Pick<ResourceKind<Row>, "noun" | "nameOf" | "identifierOf"> & {
    readonly operations: Pick<ResourceKind<Row>["operations"], "list" | "remove">;
  };
  readonly scope: Scope;
  readonly row: Row;
  readonly onClose: () => void;
};

export function DeleteResource<Row>({ kind, scope, row, onClose }: DeleteResourceProps<Row>) {
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = kind.identifierOf(row);
  const remove = useMutation({
    mutationFn: () => send(kind.operations.remove, { path: { identifier }, query: { ...scope } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [kind.operations.list.id] });
      show({ tone: "success", message: `The ${kind.noun} ${kind.nameOf(row)} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete ${kind.noun} ${kind.nameOf(row)}?`}
      action={`Delete ${kind.noun}`}
      typedName={identifier}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Pipelines that name it fail when they run. This cannot be undone.
    </ConfirmDialog>
  );
}
