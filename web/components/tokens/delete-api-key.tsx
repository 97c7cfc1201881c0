import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/api-error.ts";
import { fetchData } from "../../api/client.ts";
import { apiKeyAggregates, apiKeyDelete, type ApiKeyContent } from "../../api/operations.gen.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";

type DeleteApiKeyProps = {
  readonly owner: TokenOwner;
  readonly row: ApiKeyContent;
  readonly onClose: () => void;
};

export function DeleteApiKey({ owner, row: { apiKey, tokensCount }, onClose }: DeleteApiKeyProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () => fetchData(apiKeyDelete, { path: { identifier: apiKey.identifier }, query: ownerQuery(owner) }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [apiKeyAggregates.id] });
      show({ tone: "success", message: `API key ${apiKey.name} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete API key ${apiKey.name}?`}
      action="Delete API key"
      typedName={tokensCount > 0 ? apiKey.identifier : undefined}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {tokensCount === 0
        ? "It has no tokens."
        : `Its tokens (${tokensCount}) are deleted with it, and programs that use them are refused within a second.`}
    </ConfirmDialog>
  );
}
