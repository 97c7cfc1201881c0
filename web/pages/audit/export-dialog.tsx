import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { send } from "../../api/client.ts";
import { auditExport } from "../../api/operations.gen.ts";
import { daysOf, rangeOf } from "../../components/time-range/time-range.ts";
import { Button } from "../../ui/button.tsx";
import { Code } from "../../ui/code-block.tsx";
import { DateField } from "../../ui/date-field.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormField } from "../../ui/form-field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useToast } from "../../ui/toast.tsx";
import { saveFile } from "../../util/save-file.ts";
import styles from "./audit-page.module.css";

type ExportDialogProps = {
  /** The range that the list is filtered by. */
  readonly when: string | undefined;
  readonly onClose: () => void;
};

/** Saves the trail as a file of JSON lines. */
export function ExportDialog({ when, onClose }: ExportDialogProps) {
  const [[from, to], setDays] = useState(() => daysOf(when ?? "") ?? (["", ""] as const));
  const show = useToast();
  const save = useMutation({
    mutationFn: async () => {
      const range = rangeOf(`${from}..${to}`, Date.now());
      const query = {
        ...(range?.startTime != null && { startTime: range.startTime }),
        ...(range?.endTime != null && { endTime: range.endTime }),
      };
      const answer = await send(auditExport, { query }, { headers: { accept: "application/x-ndjson" } });
      // A connection that ends early rejects here, so that no part is taken for the whole.
      saveFile(await answer.blob(), `audit${from && `-${from}`}${to && `-to-${to}`}.jsonl`);
    },
    onSuccess: () => {
      show({ tone: "success", message: "The audit trail was exported." });
      onClose();
    },
  });
  return (
    <Dialog
      open
      size="small"
      title="Export the audit trail"
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" icon="download" busy={save.isPending}>
            Export
          </Button>
        </>
      }
    >
      <div className={styles.panel}>
        <p>
          The file has one entry of the account per line, as JSON, the oldest first. Without days it has all of them.
        </p>
        <div className={styles.fields}>
          <FormField label="From" optional>
            <DateField value={from} max={to} onChange={(day) => setDays([day, to])} />
          </FormField>
          <FormField label="To" optional>
            <DateField value={to} min={from} onChange={(day) => setDays([from, day])} />
          </FormField>
        </div>
        {save.error !== null && <Notice tone="failed">{messageOf(save.error)}</Notice>}
        <p className={styles.note}>
          <Code>railhead audit verify</Code> on the server tells whether an entry was changed or removed.
        </p>
      </div>
    </Dialog>
  );
}
