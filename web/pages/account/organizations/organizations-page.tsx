import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import {
  organizationCreate,
  organizationDelete,
  organizationList,
  organizationUpdate,
  settingList,
  type OrganizationData,
} from "../../../api/operations.gen.ts";
import { useMay, type May } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteOrganization } from "./delete-organization.tsx";
import { EditOrganization } from "./edit-organization.tsx";

const PAGE_SIZE = 50;
const route = getRouteApi("/account/organizations");

type Open =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  | { readonly kind: "edit" | "delete"; readonly row: OrganizationData };

export function OrganizationsPage() {
  useTitle("Organizations");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay({});
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const query = {
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q ? { searchTerm: search.q } : {}),
  };
  const list = useQuery({ ...dataQuery(organizationList, { query }), placeholderData: (former) => former });
  const create = may(organizationCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
      New organization
    </Button>
  );
  const close = (): void => setOpen({ kind: "none" });
  const showSettings = (org: string): void =>
    void navigate({ to: "/account/organizations/$org/settings", params: { org } });
  return (
    <>
      <ListPage
        title="Organizations"
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={[...COLUMNS, ...actionsColumn(may, setOpen, showSettings)]}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ organization }) => organization.identifier}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List organizations", operation: organizationList, query }]}
        empty={
          <EmptyState icon="layers" title="No organizations yet" actions={create}>
            An organization holds projects that have settings and access in common.
          </EmptyState>
        }
      />
      {open.kind === "create" && <EditOrganization former={undefined} onClose={close} />}
      {open.kind === "edit" && <EditOrganization former={open.row} onClose={close} />}
      {open.kind === "delete" && <DeleteOrganization row={open.row} onClose={close} />}
    </>
  );
}

const COLUMNS: readonly Column<OrganizationData>[] = [
  {
    key: "name",
    header: "Name",
    isTitle: true,
    cell: ({ organization }) => (
      <Link look="quiet" to="/account/projects" search={{ org: organization.identifier }}>
        <Name>{organization.name}</Name>
      </Link>
    ),
  },
  { key: "identifier", header: "Identifier", cell: ({ organization }) => <code>{organization.identifier}</code> },
  {
    key: "description",
    header: "Description",
    wideOnly: true,
    cell: ({ organization }) => <Name>{organization.description}</Name>,
  },
  {
    key: "changed",
    header: "Changed",
    width: "8rem",
    align: "end",
    cell: ({ lastModifiedAt }) => <RelativeTime at={lastModifiedAt} />,
  },
];

function actionsColumn(
  may: May,
  setOpen: (open: Open) => void,
  showSettings: (org: string) => void,
): readonly Column<OrganizationData>[] {
  if (!may(organizationUpdate) && !may(organizationDelete) && !may(settingList)) return [];
  return [
    {
      key: "actions",
      header: "Actions",
      hideHeader: true,
      align: "end",
      width: "3.5rem",
      cell: (row) => (
        <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.organization.name}`} />}>
          {may(settingList) && (
            <MenuItem icon="settings" onSelect={() => showSettings(row.organization.identifier)}>
              Settings
            </MenuItem>
          )}
          {may(organizationUpdate) && (
            <MenuItem icon="edit" onSelect={() => setOpen({ kind: "edit", row })}>
              Edit
            </MenuItem>
          )}
          {may(organizationDelete) && !row.platformManaged && (
            <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", row })}>
              Delete
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ];
}
