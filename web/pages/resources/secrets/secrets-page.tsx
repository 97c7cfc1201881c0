import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { dataQuery, type DataOf } from "../../../api/client.ts";
import {
  secretCreate,
  secretDelete,
  type secretGet,
  secretList,
  secretUpdate,
  secretUpdateUsageScope,
  secretUsedBy,
} from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { usePageScope } from "../../../routes/scope.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteResource } from "../shared/delete-resource.tsx";
import { OpenLink } from "../shared/open-link.tsx";
import { PAGE_SIZE } from "../shared/resource-kind.ts";
import { useOpenResource } from "../shared/use-open-resource.ts";
import { EditSecret } from "./edit-secret.tsx";
import { EditUsageScope } from "./edit-usage-scope.tsx";
import { SecretPanel } from "./secret-panel.tsx";

type SecretRow = DataOf<typeof secretGet>;
type Open =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  | { readonly kind: "edit" | "delete"; readonly row: SecretRow }
  | { readonly kind: "scope"; readonly identifier: string; readonly name: string };

const TYPES: Readonly<Record<SecretRow["secret"]["type"], string>> = {
  SecretText: "Text",
  SecretFile: "File",
  SSHKey: "SSH credential",
};

/** Names and facts of secrets. Values are written here and never shown. */
export function SecretsPage() {
  const scope = usePageScope();
  const { search, close: closeDetails } = useOpenResource();
  const may = useMay(scope);
  const [open, setOpen] = useState<Open>({ kind: "none" });
  useTitle("Secrets", scope.projectIdentifier ?? "Account");
  const query = {
    ...scope,
    pageIndex: (search.page ?? 1) - 1,
    pageSize: PAGE_SIZE,
    ...(search.q === undefined ? {} : { searchTerm: search.q }),
  };
  const list = useQuery({ ...dataQuery(secretList, { query }), placeholderData: (former) => former });
  const close = (): void => setOpen({ kind: "none" });
  const create = may(secretCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
      New secret
    </Button>
  );
  const actions = (row: SecretRow): ReactNode => (
    <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.secret.name}`} />}>
      {may(secretUpdate) && row.secret.type !== "SSHKey" && (
        <MenuItem icon="edit" onSelect={() => setOpen({ kind: "edit", row })}>
          Replace the value
        </MenuItem>
      )}
      {may(secretUpdateUsageScope, row.secret.identifier) && (
        <MenuItem
          icon="shield"
          onSelect={() => setOpen({ kind: "scope", identifier: row.secret.identifier, name: row.secret.name })}
        >
          Usage scope
        </MenuItem>
      )}
      {may(secretDelete) && (
        <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", row })}>
          Delete
        </MenuItem>
      )}
    </Menu>
  );
  const nameOf = (identifier: string): string =>
    list.data?.content.find(({ secret }) => secret.identifier === identifier)?.secret.name ?? identifier;
  const hasActions = may(secretUpdate) || may(secretDelete);
  return (
    <>
      <ListPage
        title="Secrets"
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={
          hasActions
            ? [
                ...COLUMNS,
                { key: "actions", header: "Actions", hideHeader: true, align: "end", width: "3rem", cell: actions },
              ]
            : COLUMNS
        }
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ secret }) => secret.identifier}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List secrets", operation: secretList, query }]}
        empty={
          <EmptyState icon="key" title="No secrets yet" actions={create}>
            A secret is sealed when it is saved, and opened only for the steps that name it.
          </EmptyState>
        }
      />
      {search.open !== undefined && (
        <SecretPanel
          scope={scope}
          identifier={search.open}
          name={nameOf(search.open)}
          onEditScope={() => setOpen({ kind: "scope", identifier: search.open ?? "", name: nameOf(search.open ?? "") })}
          onClose={closeDetails}
        />
      )}
      {open.kind === "scope" && (
        <EditUsageScope scope={scope} identifier={open.identifier} name={open.name} onClose={close} />
      )}
      {open.kind === "create" && <EditSecret scope={scope} former={undefined} onClose={close} />}
      {open.kind === "edit" && <EditSecret scope={scope} former={open.row} onClose={close} />}
      {open.kind === "delete" && (
        <DeleteResource
          kind={{
            noun: "secret",
            nameOf: ({ secret }: SecretRow) => secret.name,
            identifierOf: ({ secret }: SecretRow) => secret.identifier,
            operations: { list: secretList, remove: secretDelete, usedBy: secretUsedBy, removeIsForced: true },
          }}
          scope={scope}
          row={open.row}
          onClose={close}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<SecretRow>[] = [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ secret }) => <OpenLink identifier={secret.identifier} name={secret.name} />,
  },
  { key: "identifier", header: "Identifier", cell: ({ secret }) => <code>{secret.identifier}</code> },
  { key: "type", header: "Type", cell: ({ secret }) => TYPES[secret.type] },
  {
    key: "manager",
    header: "Secret manager",
    wideOnly: true,
    cell: ({ secret }) => ("secretManagerIdentifier" in secret.spec ? secret.spec.secretManagerIdentifier : ""),
  },
  { key: "changed", header: "Changed", align: "end", cell: (row) => <RelativeTime at={row.updatedAt} /> },
];
