import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { fetchData } from "../../../api/client.ts";
import { projectDelete, projectList } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import type { ProjectRow } from "./project-row.ts";

export function DeleteProject({
  row: { project },
  onClose,
}: {
  readonly row: ProjectRow;
  readonly onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const show = useToast();
  const remove = useMutation({
    mutationFn: () =>
      fetchData(projectDelete, {
        path: { identifier: project.identifier },
        query: { orgIdentifier: project.orgIdentifier },
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [projectList.id] });
      show({ tone: "success", message: `Project ${project.name} was deleted.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete project ${project.name}?`}
      action="Delete project"
      typedName={project.identifier}
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Its pipelines, triggers, environments, services, connectors and secrets are deleted with it. This cannot be
      undone.
    </ConfirmDialog>
  );
}
