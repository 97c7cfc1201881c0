import { useState, type ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./confirm-dialog.module.css";
import { Dialog } from "./dialog.tsx";
import { FormField } from "./form-field.tsx";
import { Notice } from "./notice.tsx";
import { TextField } from "./text-field.tsx";

type ConfirmDialogProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  /** A question that names the object: Delete pipeline 'deploy'? */
  readonly title: string;
  /** What is destroyed, and what still depends on it. */
  readonly children: ReactNode;
  /** The verb: Delete pipeline */
  readonly action: string;
  /** The name to type first, for what cannot be undone. */
  readonly typedName?: string | undefined;
  readonly danger?: boolean | undefined;
  readonly busy?: boolean | undefined;
  readonly error?: string | undefined;
};

export function ConfirmDialog(props: ConfirmDialogProps) {
  return props.open ? <OpenConfirmDialog {...props} /> : null;
}

function OpenConfirmDialog(props: ConfirmDialogProps) {
  const { onClose, onConfirm, title, children, action, typedName, danger = true, busy, error } = props;
  const [typed, setTyped] = useState("");
  const isConfirmed = typedName === undefined || typed === typedName;
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      size="small"
      onSubmit={() => {
        if (isConfirmed && busy !== true) onConfirm();
      }}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant={danger ? "danger" : "primary"} disabled={!isConfirmed} busy={busy}>
            {action}
          </Button>
        </>
      }
    >
      <div className={styles.content}>
        <div>{children}</div>
        {typedName !== undefined && (
          <FormField
            label={
              <span className={styles.prompt}>
                Type <code className={styles.name}>{typedName}</code> to confirm
              </span>
            }
          >
            <TextField mono autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />
          </FormField>
        )}
        {error !== undefined && <Notice tone="failed">{error}</Notice>}
      </div>
    </Dialog>
  );
}
