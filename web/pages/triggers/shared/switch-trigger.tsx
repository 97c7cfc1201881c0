import { useMutation, useQueryClient } from "@tanstack/react-query";
import { parseDocument } from "yaml";
import { messageOf } from "../../../api/api-error.ts";
import { request } from "../../../api/client.ts";
import { triggerUpdate, type TriggerContent } from "../../../api/operations.gen.ts";
import { ConfirmDialog } from "../../../ui/confirm-dialog.tsx";
import { useToast } from "../../../ui/toast.tsx";
import { readTriggersAgain } from "./read-triggers-again.ts";
import type { TriggerKey } from "./trigger-key.ts";

type SwitchTriggerProps = {
  readonly triggerKey: TriggerKey;
  readonly trigger: Pick<TriggerContent, "name" | "yaml" | "version" | "enabled">;
  readonly onClose: () => void;
};

/** Enables a disabled trigger, or the other way round. That saves it, which has a consequence to know of. */
export function SwitchTrigger({ triggerKey, trigger, onClose }: SwitchTriggerProps) {
  const { name, yaml, version, enabled } = trigger;
  const queryClient = useQueryClient();
  const show = useToast();
  const save = useMutation({
    mutationFn: () =>
      request(
        triggerUpdate,
        { ...triggerKey, body: withEnabled(yaml, !enabled) },
        { headers: { "if-match": `"${version}"` } },
      ),
    onSuccess: async () => {
      await readTriggersAgain(queryClient);
      show({ tone: "success", message: `Trigger ${name} was ${enabled ? "disabled" : "enabled"}.` });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      danger={false}
      title={`${enabled ? "Disable" : "Enable"} trigger ${name}?`}
      action={enabled ? "Disable trigger" : "Enable trigger"}
      busy={save.isPending}
      error={save.error === null ? undefined : messageOf(save.error)}
      onConfirm={() => save.mutate()}
      onClose={onClose}
    >
      {enabled
        ? "Calls of its webhook are answered and start nothing. Their bodies are not kept, so they cannot be replayed."
        : "Calls of its webhook start the pipeline again."}{" "}
      You become its owner: what it starts may use what you may, unless it runs as a service account.
    </ConfirmDialog>
  );
}

/** The document with this value; its comments and its order stay. */
function withEnabled(yaml: string, enabled: boolean): string {
  const document = parseDocument(yaml);
  document.setIn(["trigger", "enabled"], enabled);
  return document.toString({ lineWidth: 0 });
}
