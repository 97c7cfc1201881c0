import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { dataQuery } from "../../../api/client.ts";
import { deploymentList, deploymentListServices } from "../../../api/operations.gen.ts";
import { useMay, type May, type Scope } from "../../../api/permissions.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { ListPage } from "../../../components/list-page.tsx";
import { useProjectChanges } from "../../../components/use-project-changes.ts";
import { usePageScope } from "../../../routes/scope.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import type { Column } from "../../../ui/table.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteResource } from "./delete-resource.tsx";
import { DeployedCell, Deployments } from "./deployments.tsx";
import { EditResource } from "./edit-resource.tsx";
import { OpenLink } from "./open-link.tsx";
import { PAGE_SIZE, type ResourceKind } from "./resource-kind.ts";
import { ResourcePanel } from "./resource-panel.tsx";
import { useOpenResource } from "./use-open-resource.ts";

const DEPLOYMENTS = [deploymentList, deploymentListServices];
const NOTHING = [] as const;

type Listed<Row> = { readonly content: readonly Row[]; readonly totalItems: number };
type Open<Row> =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  | { readonly kind: "edit" | "delete"; readonly row: Row };

type ResourcePageProps<Row> = {
  readonly kind: ResourceKind<Row>;
  /** In place of the button that opens the editor for a new one. */
  readonly createActions?: ((scope: Scope) => ReactNode) | undefined;
};

/** The list of a kind of resource in the project or the account, with its editor. */
export function ResourcePage<Row>({ kind, createActions }: ResourcePageProps<Row>) {
  const scope = usePageScope();
  const { search, close: closeDetails } = useOpenResource();
  const may = useMay(scope);
  const [open, setOpen] = useState<Open<Row>>({ kind: "none" });
  useTitle(kind.title, scope.projectIdentifier ?? "Account");
  const connection = useProjectChanges(scope, kind.deployments === undefined ? NOTHING : DEPLOYMENTS);
  const isInProject = scope.orgIdentifier !== undefined && scope.projectIdentifier !== undefined;
  const query = { ...scope, ...kind.listQuery(scope, search) };
  const list = useQuery({
    ...dataQuery(kind.operations.list, { path: {}, query }),
    placeholderData: (former) => former,
  });
  const data = list.data as Listed<Row> | undefined;
  const close = (): void => setOpen({ kind: "none" });
  const create =
    may(kind.operations.create) &&
    (createActions?.(scope) ?? (
      <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
        New {kind.noun}
      </Button>
    ));
  const opened = data?.content.find((row) => kind.identifierOf(row) === search.open);
  return (
    <>
      {kind.deployments !== undefined && <ConnectionLost state={connection} />}
      <ListPage
        title={kind.title}
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={[...columnsOf(kind, isInProject), ...actionsColumn(kind, { may, scope, setOpen })]}
        rows={data?.content}
        total={data?.totalItems}
        rowKey={kind.identifierOf}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: `List ${kind.title.toLowerCase()}`, operation: kind.operations.list, query }]}
        empty={
          <EmptyState icon={kind.icon} title={`No ${kind.title.toLowerCase()} yet`} actions={create}>
            {kind.purpose}
          </EmptyState>
        }
      />
      {search.open !== undefined && (
        <ResourcePanel
          noun={kind.noun}
          name={opened === undefined ? search.open : kind.nameOf(opened)}
          identifier={search.open}
          scope={scope}
          operations={kind.operations}
          onClose={closeDetails}
        >
          {kind.deployments !== undefined && isInProject && (
            <Deployments
              side={kind.deployments}
              identifier={search.open}
              scope={{ orgIdentifier: scope.orgIdentifier, projectIdentifier: scope.projectIdentifier }}
            />
          )}
        </ResourcePanel>
      )}
      {open.kind === "create" && <EditResource kind={kind} scope={scope} former={undefined} onClose={close} />}
      {open.kind === "edit" && <EditResource kind={kind} scope={scope} former={open.row} onClose={close} />}
      {open.kind === "delete" && <DeleteResource kind={kind} scope={scope} row={open.row} onClose={close} />}
    </>
  );
}

/** The name opens the details. In projects, what is deployed stands before the time of the last change. */
function columnsOf<Row>(kind: ResourceKind<Row>, isInProject: boolean): readonly Column<Row>[] {
  const columns = kind.columns.map((column) =>
    column.isTitle === true
      ? { ...column, cell: (row: Row) => <OpenLink identifier={kind.identifierOf(row)} name={kind.nameOf(row)} /> }
      : column,
  );
  const { deployments } = kind;
  if (deployments === undefined || !isInProject) return columns;
  const cell = (row: Row): ReactNode => <DeployedCell side={deployments} identifier={kind.identifierOf(row)} />;
  return columns.toSpliced(-1, 0, { key: "deployed", header: "Deployed", cell });
}

type ActionDeps<Row> = { readonly may: May; readonly scope: Scope; readonly setOpen: (open: Open<Row>) => void };

function actionsColumn<Row>(kind: ResourceKind<Row>, { may, scope, setOpen }: ActionDeps<Row>): readonly Column<Row>[] {
  const canEdit = may(kind.operations.update);
  const canDelete = may(kind.operations.remove);
  if (!canEdit && !canDelete && kind.rowActions === undefined) return [];
  const cell = (row: Row): ReactNode => (
    <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${kind.nameOf(row)}`} />}>
      {kind.rowActions?.(row, scope)}
      {canEdit && (
        <MenuItem icon="edit" onSelect={() => setOpen({ kind: "edit", row })}>
          Edit
        </MenuItem>
      )}
      {canDelete && (
        <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", row })}>
          Delete
        </MenuItem>
      )}
    </Menu>
  );
  return [{ key: "actions", header: "Actions", hideHeader: true, align: "end", width: "3rem", cell }];
}
