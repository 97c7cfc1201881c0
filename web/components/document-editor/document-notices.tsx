import { messageOf } from "../../api/api-error.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import styles from "./document-editor.module.css";
import type { DocumentState } from "./use-document.ts";

/** What a document's editor has to say above the text: a refusal, an earlier draft, a conflict. */
export function DocumentNotices({ document, noun }: { readonly document: DocumentState; readonly noun: string }) {
  const { draft, error, conflict } = document;
  return (
    <>
      {draft && (
        <Notice
          tone="running"
          title="You have unsaved changes from an earlier visit"
          actions={
            <>
              <Button size="small" onClick={document.discardDraft}>
                Discard
              </Button>
              <Button size="small" variant="primary" onClick={document.restoreDraft}>
                Restore
              </Button>
            </>
          }
        >
          Last changed <RelativeTime at={draft.changedAt} />.
        </Notice>
      )}
      {error !== null && (
        <Notice tone="failed" title={`The ${noun} was not saved`}>
          <p className={styles.message}>{messageOf(error)}</p>
        </Notice>
      )}
      {conflict && (
        <Dialog
          open
          size="large"
          title={`This ${noun} was changed meanwhile`}
          onClose={document.closeConflict}
          actions={
            <>
              <Button variant="ghost" onClick={document.closeConflict}>
                Keep editing
              </Button>
              <Button onClick={document.takeTheirs}>Take the saved version</Button>
              <Button variant="danger" busy={document.isSaving} onClick={document.overwrite}>
                Overwrite with mine
              </Button>
            </>
          }
        >
          <p className={styles.message}>
            Another person has saved this {noun} since you opened it. Nothing of yours is lost: overwrite their version,
            or take it and lose your changes.
          </p>
          <DiffView label="The saved version, and yours" before={conflict.text} after={document.text} />
        </Dialog>
      )}
    </>
  );
}
