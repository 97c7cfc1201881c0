import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Name } from "../../ui/name.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { CopyAs, type CopiedRequest } from "../copy-as.tsx";
import { YamlEditor } from "../yaml-editor/yaml-editor.tsx";
import styles from "./document-editor.module.css";
import { DocumentNotices } from "./document-notices.tsx";
import type { DocumentState } from "./use-document.ts";
import { useSchemaHelp } from "./use-schema.ts";

type DocumentPageProps = {
  readonly title: string;
  readonly breadcrumbs: readonly ReactNode[];
  /** What the document is, in sentences: trigger */
  readonly noun: string;
  readonly schema: Parameters<typeof useSchemaHelp>[0];
  readonly document: DocumentState;
  readonly isNew?: boolean;
  /** Without it the document can only be read. */
  readonly canSave: boolean;
  readonly request: CopiedRequest;
  /** Between the header and the editor. */
  readonly children?: ReactNode;
};

/** The page of a document with an editor that knows its schema. Faults appear at their lines when it is saved. */
export function DocumentPage(props: DocumentPageProps) {
  const { title, breadcrumbs, noun, schema, document, isNew = false, canSave, request, children } = props;
  const extensions = useSchemaHelp(schema);
  const action = isNew ? `Create ${noun}` : "Save";
  return (
    <>
      <PageHeader
        breadcrumbs={breadcrumbs}
        title={<Name>{title}</Name>}
        status={document.isChanged && !isNew && <Badge tone="waiting">Not saved</Badge>}
        actions={
          <>
            <CopyAs requests={[request]} />
            {canSave && (
              <Button variant="primary" busy={document.isSaving} title={`${action} (Ctrl S)`} onClick={document.save}>
                {action}
              </Button>
            )}
          </>
        }
      />
      <div className={styles.page}>
        {children}
        <DocumentNotices document={document} noun={noun} />
        <div className={styles.editor}>
          <YamlEditor
            label={`Document of the ${noun}`}
            value={document.text}
            onChange={canSave ? document.setText : undefined}
            faults={document.error instanceof ApiError ? document.error.faults : undefined}
            extensions={extensions}
          />
        </div>
      </div>
    </>
  );
}
