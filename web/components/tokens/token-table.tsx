import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery } from "../../api/client.ts";
import { tokenAggregates, type ApiKeyData } from "../../api/operations.gen.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { Name } from "../../ui/name.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { formatUsDate } from "../../util/us-date.ts";
import styles from "./api-keys.module.css";
import { DeleteToken } from "./delete-token.tsx";
import { RotateToken } from "./rotate-token.tsx";
import { ownerQuery, type TokenOwner } from "./token-owner.ts";
import type { TokenRow } from "./token-row.ts";

type Open = { readonly kind: "none" } | { readonly kind: "rotate" | "delete"; readonly row: TokenRow };
type TokenTableProps = { readonly owner: TokenOwner; readonly apiKey: ApiKeyData; readonly canChange: boolean };

export function TokenTable({ owner, apiKey, canChange }: TokenTableProps) {
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const query = { ...ownerQuery(owner), apiKeyIdentifier: apiKey.identifier, pageSize: 100 };
  const { data, error } = useQuery(dataQuery(tokenAggregates, { query }));
  const close = (): void => setOpen({ kind: "none" });
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  return (
    <>
      <Table
        label={`Tokens of ${apiKey.name}`}
        density="compact"
        columns={[...COLUMNS, ...(canChange ? [actionsColumn(setOpen)] : [])]}
        rows={data?.content}
        rowKey={({ token }) => token.identifier}
        placeholderRows={1}
        empty={<p className={styles.none}>No tokens.</p>}
      />
      {open.kind === "rotate" && <RotateToken owner={owner} row={open.row} onClose={close} />}
      {open.kind === "delete" && <DeleteToken owner={owner} row={open.row} onClose={close} />}
    </>
  );
}

const COLUMNS: readonly Column<TokenRow>[] = [
  { key: "name", header: "Token", isTitle: true, cell: ({ token }) => <Name>{token.name}</Name> },
  { key: "id", header: "Identifier", cell: ({ token }) => <code>{token.identifier}</code>, wideOnly: true },
  { key: "state", header: "State", width: "10rem", cell: (row) => <TokenState row={row} /> },
  {
    key: "end",
    header: "Expires on",
    width: "9rem",
    cell: ({ expiryAt }) => (expiryAt === null ? "never" : formatUsDate(expiryAt)),
  },
  {
    key: "created",
    header: "Created",
    width: "9rem",
    align: "end",
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

function TokenState({ row: { token, expiryAt } }: { readonly row: TokenRow }) {
  if (token.valid)
    return (
      <Badge tone="success" icon="check">
        Valid
      </Badge>
    );
  if (token.validFrom > Date.now()) return <Badge icon="clock">Not yet valid</Badge>;
  return (
    <Badge tone="expired" icon="clock">
      {expiryAt === null ? "Ended" : "Expired"}
    </Badge>
  );
}

/** The former text of a rotated token is listed until it ends, and cannot be rotated again. */
const isReplaced = ({ token }: TokenRow): boolean => token.identifier.startsWith("rotated_");

const actionsColumn = (setOpen: (open: Open) => void): Column<TokenRow> => ({
  key: "actions",
  header: "Actions",
  hideHeader: true,
  align: "end",
  width: "3.5rem",
  cell: (row) => (
    <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.token.name}`} />}>
      {row.token.valid && !isReplaced(row) && (
        <MenuItem icon="refresh" onSelect={() => setOpen({ kind: "rotate", row })}>
          Rotate
        </MenuItem>
      )}
      <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", row })}>
        Delete
      </MenuItem>
    </Menu>
  ),
});
