import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/api-error.ts";
import { fetchData } from "../../api/client.ts";
import { apiKeyAggregates, tokenAggregates, tokenDelete } from "../../api/operations.gen.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";
import type { TokenRow } from "./token-row.ts";

type DeleteTokenProps = { readonly owner: TokenOwner; readonly row: TokenRow; readonly onClose: () => void };

export function DeleteToken({ owner, row: { token }, onClose }: DeleteTokenProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () =>
      fetchData(tokenDelete, {
        path: { identifier: token.identifier },
        query: { ...ownerQuery(owner), apiKeyIdentifier: token.apiKeyIdentifier },
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [tokenAggregates.id] });
      await queryClient.invalidateQueries({ queryKey: [apiKeyAggregates.id] });
      show({ tone: "success", message: `Token ${token.name} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete token ${token.name}?`}
      action="Delete token"
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Programs that use it are refused within a second. This cannot be undone.
    </ConfirmDialog>
  );
}
