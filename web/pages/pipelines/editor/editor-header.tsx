import type { Scope } from "../../../api/permissions.ts";
import { CopyAs, type CopiedRequest } from "../../../components/copy-as.tsx";
import type { DocumentState } from "../../../components/document-editor/use-document.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";

type EditorHeaderProps = {
  readonly title: string;
  readonly scope: Required<Scope>;
  /** The pipeline that is edited, if it exists. */
  readonly pipeline?: string;
  readonly document: DocumentState;
  /** What the main button says. */
  readonly action: string;
  readonly canSave: boolean;
  readonly request: CopiedRequest;
};

export function EditorHeader({ title, scope, pipeline, document, action, canSave, request }: EditorHeaderProps) {
  const params = { org: scope.orgIdentifier, project: scope.projectIdentifier };
  const list = (
    <Link key="list" to="/projects/$org/$project/pipelines" params={params}>
      Pipelines
    </Link>
  );
  const page = pipeline !== undefined && (
    <Link key="page" to="/projects/$org/$project/pipelines/$pipeline" params={{ ...params, pipeline }}>
      <Name>{pipeline}</Name>
    </Link>
  );
  return (
    <PageHeader
      breadcrumbs={page === false ? [list] : [list, page]}
      title={<Name>{title}</Name>}
      status={document.isChanged && pipeline !== undefined && <Badge tone="waiting">Not saved</Badge>}
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
  );
}
