import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery, send } from "../../../api/client.ts";
import type { Scope } from "../../../api/permissions.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { ResourceKind } from "./resource-kind.ts";
import { describeUsers } from "./describe-users.ts";

type DeleteResourceProps<Row> = {
  readonly kind: Pick<ResourceKind<Row>, "noun" | "nameOf" | "identifierOf"> & {
    readonly operations: Pick<ResourceKind<Row>["operations"], "list" | "remove" | "usedBy" | "removeIsForced">;
  };
  readonly scope: Scope;
  readonly row: Row;
  readonly onClose: () => void;
};

/** The others are counted. */
const SHOWN = 5;

export function DeleteResource<Row>({ kind, scope, row, onClose }: DeleteResourceProps<Row>) {
  const queryClient = useQueryClient();
  const show = useToast();
  const identifier = kind.identifierOf(row);
  const { usedBy, remove: operation, removeIsForced } = kind.operations;
  const users = useQuery(dataQuery(usedBy, { path: { identifier }, query: { ...scope, pageSize: SHOWN } }));
  const isUsed = users.data !== undefined && users.data.totalItems + users.data.hidden > 0;
  const remove = useMutation({
    mutationFn: () =>
      send(operation, {
        path: { identifier },
        // What is used is deleted by those who were told of it.
        query: { ...scope, ...(isUsed && removeIsForced === true ? { forceDelete: true } : {}) },
      }),
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
      busy={remove.isPending || users.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {users.data !== undefined && isUsed ? `It is used by ${describeUsers(users.data)}. ` : ""}
      What names it fails from then on. This cannot be undone.
    </ConfirmDialog>
  );
}
