import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  delegateTokenCreate,
  delegateTokenDelete,
  delegateTokenList,
  delegateTokenRevoke,
  type DelegateTokenResource,
} from "../../../api/operations.gen.ts";
import { useMay, type May } from "../../../api/permissions.ts";
import { messageOf } from "../../../api/api-error.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { fetchResource } from "./delegate.ts";
import { DelegateTabs } from "./delegate-tabs.tsx";
import { CreateToken, EndToken } from "./token-actions.tsx";

type Open =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  | { readonly kind: "revoke" | "delete"; readonly name: string };

export function DelegateTokensPage() {
  useTitle("Delegate tokens");
  const may = useMay({});
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const { data, error, refetch } = useQuery({
    queryKey: [delegateTokenList.id],
    queryFn: () => fetchResource(delegateTokenList, {}),
  });
  const create = may(delegateTokenCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
      New token
    </Button>
  );
  const close = (): void => setOpen({ kind: "none" });
  return (
    <>
      <PageHeader
        title="Delegate tokens"
        actions={
          <>
            <CopyAs requests={[{ label: "List delegate tokens", operation: delegateTokenList }]} />
            {create}
          </>
        }
        tabs={<DelegateTabs />}
      />
      {error === null ? (
        <Table
          label="Delegate tokens"
          columns={[...COLUMNS, ...actionsColumn(may, setOpen)]}
          rows={data}
          rowKey={({ uuid }) => uuid}
          empty={
            <EmptyState icon="key" title="No delegate tokens yet" actions={create}>
              A delegate signs in with a token. Several delegates may share one.
            </EmptyState>
          }
        />
      ) : (
        <ErrorState title="The tokens could not be loaded" message={messageOf(error)} onRetry={() => void refetch()} />
      )}
      {open.kind === "create" && <CreateToken onClose={close} />}
      {(open.kind === "revoke" || open.kind === "delete") && (
        <EndToken action={open.kind} name={open.name} onClose={close} />
      )}
    </>
  );
}

const COLUMNS: readonly Column<DelegateTokenResource>[] = [
  { key: "name", header: "Name", isTitle: true, cell: ({ name }) => <Name>{name}</Name> },
  {
    key: "state",
    header: "State",
    width: "8rem",
    cell: ({ status }) =>
      status === "ACTIVE" ? (
        <Badge tone="success" icon="check">
          Active
        </Badge>
      ) : (
        <Badge tone="aborted" icon="close">
          Revoked
        </Badge>
      ),
  },
  {
    key: "end",
    header: "Ends",
    width: "10rem",
    cell: ({ revokedAt, revokeAfter }) => {
      const at = revokedAt ?? revokeAfter;
      return at === null ? "when revoked" : <RelativeTime at={at} />;
    },
  },
  {
    key: "created",
    header: "Created",
    width: "10rem",
    align: "end",
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

function actionsColumn(may: May, setOpen: (open: Open) => void): readonly Column<DelegateTokenResource>[] {
  if (!may(delegateTokenRevoke)) return [];
  return [
    {
      key: "actions",
      header: "Actions",
      hideHeader: true,
      align: "end",
      width: "3.5rem",
      cell: ({ name, status }) => (
        <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${name}`} />}>
          {status === "ACTIVE" ? (
            <MenuItem icon="stop" danger onSelect={() => setOpen({ kind: "revoke", name })}>
              Revoke
            </MenuItem>
          ) : (
            may(delegateTokenDelete) && (
              <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", name })}>
                Delete
              </MenuItem>
            )
          )}
        </Menu>
      ),
    },
  ];
}
