import { useState } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FormField, FormLayout } from "../../ui/form-field.tsx";
import { Link } from "../../ui/link.tsx";
import { Menu, MenuCheckItem, MenuItem, MenuLabel, MenuSeparator } from "../../ui/menu.tsx";
import { Popover } from "../../ui/popover.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";
import styles from "./components-page.module.css";

type Open = "dialog" | "form" | "side" | "confirm" | "typed";

export function Overlays() {
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <Card title="Dialogs, menus and messages">
      <div className={styles.row}>
        <Button onClick={() => setOpen("dialog")}>Dialog</Button>
        <Button onClick={() => setOpen("form")}>Form dialog</Button>
        <Button onClick={() => setOpen("side")}>Side panel</Button>
        <Button onClick={() => setOpen("confirm")}>Confirm</Button>
        <Button onClick={() => setOpen("typed")}>Confirm by name</Button>
        <SampleMenu />
        <Popover label="Details" trigger={<Button>Popover</Button>}>
          Runs wait here until a delegate with these tags is free.
        </Popover>
        <Tooltip content="Runs the pipeline with its last inputs.">
          <Button>Tooltip</Button>
        </Tooltip>
        <Toasts />
      </div>
      <Dialog
        open={open === "dialog"}
        onClose={close}
        title="Run pipeline 'deploy_shop'"
        actions={<Button onClick={close}>Close</Button>}
      >
        <div className={styles.row}>
          The dialog keeps the focus inside. <SampleMenu />
        </div>
      </Dialog>
      <Dialog
        open={open === "form"}
        onClose={close}
        onSubmit={close}
        title="Create a token"
        actions={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" variant="primary">
              Create token
            </Button>
          </>
        }
      >
        <FormLayout>
          <FormField label="Name">
            <TextField autoFocus />
          </FormField>
        </FormLayout>
      </Dialog>
      <Dialog open={open === "side"} onClose={close} title="Step 'compile'" placement="side">
        <p>Details of one step beside the run.</p>
      </Dialog>
      <ConfirmDialog
        open={open === "confirm"}
        onClose={close}
        onConfirm={close}
        title="Abort this execution?"
        action="Abort execution"
      >
        <p>Steps that run are ended. Nothing is rolled back.</p>
      </ConfirmDialog>
      <ConfirmDialog
        open={open === "typed"}
        onClose={close}
        onConfirm={close}
        title="Delete project 'shop'?"
        action="Delete project"
        typedName="shop"
      >
        <p>This deletes 12 pipelines, 40 secrets and their history. It cannot be undone.</p>
      </ConfirmDialog>
    </Card>
  );
}

function SampleMenu() {
  const [isWrapped, setIsWrapped] = useState(true);
  return (
    <Menu trigger={<IconButton icon="more" label="More actions" variant="secondary" />}>
      <MenuLabel>Execution</MenuLabel>
      <MenuItem icon="retry" hint="R">
        Run again
      </MenuItem>
      <MenuItem icon="pause" disabled>
        Pause
      </MenuItem>
      <MenuItem asLink>
        <Link to="/">Open the pipeline</Link>
      </MenuItem>
      <MenuCheckItem checked={isWrapped} onChange={setIsWrapped}>
        Wrap lines
      </MenuCheckItem>
      <MenuSeparator />
      <MenuItem icon="trash" danger>
        Delete
      </MenuItem>
    </Menu>
  );
}

function Toasts() {
  const show = useToast();
  return (
    <>
      <Button
        onClick={() =>
          show({
            tone: "success",
            message: "Pipeline 'deploy_shop' was saved.",
            action: { label: "Run it", run: () => undefined },
          })
        }
      >
        Success message
      </Button>
      <Button
        onClick={() => show({ tone: "failed", message: "The pipeline was changed by Ada. Compare and save again." })}
      >
        Failure message
      </Button>
    </>
  );
}
