import { useEffect, useId, useState, type ReactNode } from "react";
import { classNames } from "../util/class-names.ts";
import { IconButton } from "./button.tsx";
import styles from "./dialog.module.css";
import { PortalContext } from "./portal.ts";

type DialogProps = {
  readonly open: boolean;
  /** Esc, the close button and a click beside the dialog. */
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly size?: "small" | "medium" | "large" | undefined;
  /** `side` stands at the right edge, at full height. */
  readonly placement?: "center" | "side" | undefined;
  /** The buttons; the last one is the main action. */
  readonly actions?: ReactNode;
  /** Makes the dialog a form. */
  readonly onSubmit?: (() => void) | undefined;
  readonly children: ReactNode;
};

const FIRST_FIELD = ":is(input, select, textarea):not(:disabled, [type=hidden])";

/** A modal dialog. The browser keeps the focus inside and returns it to where it was. */
export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <OpenDialog {...rest} /> : null;
}

function OpenDialog(props: Omit<DialogProps, "open">) {
  const { onClose, title, size = "medium", placement = "center", actions, onSubmit, children } = props;
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null);
  const titleId = useId();
  useEffect(() => {
    if (!dialog) return undefined;
    dialog.showModal();
    // The browser would choose the close button. Fields that are not shown yet cannot get the focus themselves.
    dialog.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    // Closing moves the focus back. Removing an open dialog would not.
    return () => dialog.close();
  }, [dialog]);
  const content = (
    <>
      <header className={styles.header}>
        <h2 className={styles.title} id={titleId}>
          {title}
        </h2>
        <IconButton icon="close" label="Close" size="small" onClick={onClose} />
      </header>
      <div className={styles.body}>{children}</div>
      {actions !== undefined && <footer className={styles.actions}>{actions}</footer>}
    </>
  );
  return (
    <dialog
      ref={setDialog}
      className={classNames(styles.dialog, styles[size], placement === "side" && styles.side)}
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <PortalContext value={dialog}>
        {onSubmit === undefined ? (
          <div className={styles.frame}>{content}</div>
        ) : (
          <form
            className={styles.frame}
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              onSubmit();
            }}
          >
            {content}
          </form>
        )}
      </PortalContext>
    </dialog>
  );
}
