import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { organizationDelete, organizationList, type OrganizationData } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";

type DeleteOrganizationProps = { readonly row: OrganizationData; readonly onClose: () => void };

export function DeleteOrganization({ row: { organization }, onClose }: DeleteOrganizationProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () => fetchData(organizationDelete, { path: { identifier: organization.identifier } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [organizationList.id] });
      show({ tone: "success", message: `Organization ${organization.name} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete organization '${organization.name}'?`}
      action="Delete organization"
      typedName={organization.identifier}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Its settings, connectors, secrets and access are deleted with it. This cannot be undone. An organization that has
      projects cannot be deleted.
    </ConfirmDialog>
  );
}
