import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { ownershipAdopt, ownershipList } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { countOf } from "../shared/names.ts";
import type { OwnedRef } from "./owned.tsx";

type AdoptResourcesProps = {
  readonly resources: readonly OwnedRef[];
  readonly onClose: () => void;
  readonly onAdopted: () => void;
};

/** Takes over all of them, or none. */
export function AdoptResources({ resources, onClose, onAdopted }: AdoptResourcesProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const adopt = useMutation({
    mutationFn: () => fetchData(ownershipAdopt, { body: { resources } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [ownershipList.id] });
      show({ tone: "success", message: `You have adopted ${countOf(resources.length, "resource")}.` });
      onAdopted();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Adopt ${countOf(resources.length, "resource")}?`}
      action="Adopt"
      danger={false}
      busy={adopt.isPending}
      error={adopt.error === null ? undefined : messageOf(adopt.error)}
      onConfirm={() => adopt.mutate()}
      onClose={onClose}
    >
      Triggers run with your permissions from then on, and you are the author of the pipelines and input sets. Review
      them first: what they do is done in your name.
    </ConfirmDialog>
  );
}
