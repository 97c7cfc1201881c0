import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { request } from "../../../api/client.ts";
import { smtpConfigDelete, smtpConfigGet, type SmtpConfigData } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";

type DeleteMailServerProps = {
  readonly config: SmtpConfigData;
  readonly etag: string | undefined;
  readonly onClose: () => void;
};

export function DeleteMailServer({ config, etag, onClose }: DeleteMailServerProps) {
  const queryClient = useQueryClient();
  const show = useToast();
  const headers = etag === undefined ? {} : { "if-match": etag };
  const remove = useMutation({
    mutationFn: () => request(smtpConfigDelete, { path: { smtpConfigId: config.uuid } }, { headers }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [smtpConfigGet.id] });
      show({ tone: "success", message: "The mail server was deleted." });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      title={`Delete mail server '${config.name}'?`}
      action="Delete mail server"
      busy={remove.isPending}
      error={remove.error === null ? undefined : messageOf(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Its password is deleted with it. Steps that send mails fail from then on.
    </ConfirmDialog>
  );
}
