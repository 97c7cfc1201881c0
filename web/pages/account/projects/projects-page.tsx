import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery, fetchData } from "../../../api/client.ts";
import {
  organizationList,
  projectCreate,
  projectDelete,
  projectList,
  projectUpdate,
} from "../../../api/operations.gen.ts";
import { useMay, type May } from "../../../api/permissions.ts";
import { FilterBar, type Filter, type FilterValues } from "../../../components/filter-bar.tsx";
import { ListPage } from "../../../components/list-page.tsx";
import { LookupEditor, type LookupSource } from "../../../components/lookup-editor.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { DeleteProject } from "./delete-project.tsx";
import { EditProject } from "./edit-project.tsx";
import type { ProjectRow } from "./project-row.ts";

const PAGE_SIZE = 50;
const route = getRouteApi("/account/projects");

type Open =
  | { readonly kind: "none" }
  | { readonly kind: "create" }
  | { readonly kind: "edit" | "delete"; readonly row: ProjectRow };

export function ProjectsPage() {
  useTitle("Projects");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay({});
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const query = {
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q ? { searchTerm: search.q } : {}),
    ...(search.org === undefined ? {} : { orgIdentifier: search.org }),
  };
  const list = useQuery({ ...dataQuery(projectList, { query }), placeholderData: (former) => former });
  const create = may(projectCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
      New project
    </Button>
  );
  const close = (): void => setOpen({ kind: "none" });
  const filterByOrganization = (values: FilterValues): void => {
    const org = values["org"]?.[0];
    void navigate({
      search: { ...(search.q === undefined ? {} : { q: search.q }), ...(org === undefined ? {} : { org }) },
    });
  };
  return (
    <>
      <ListPage
        title="Projects"
        actions={create}
        search={search}
        pageSize={PAGE_SIZE}
        columns={columnsFor(may, setOpen)}
        rows={list.data?.content}
        total={list.data?.totalItems}
        rowKey={({ project }) => `${project.orgIdentifier}/${project.identifier}`}
        error={list.error}
        onRetry={() => void list.refetch()}
        requests={[{ label: "List projects", operation: projectList, query }]}
        queries={[{ label: "List applications", query: "{ applications(limit: 50) { nodes { id name } } }" }]}
        filters={
          <FilterBar
            filters={organizationFilter(may)}
            values={search.org === undefined ? {} : { org: [search.org] }}
            onChange={filterByOrganization}
          />
        }
        empty={
          <EmptyState icon="folder" title="No projects yet" actions={create}>
            A project holds pipelines with their environments, services, connectors and secrets.
          </EmptyState>
        }
      />
      {open.kind === "create" && <EditProject former={undefined} organization={search.org} onClose={close} />}
      {open.kind === "edit" && <EditProject former={open.row} onClose={close} />}
      {open.kind === "delete" && <DeleteProject row={open.row} onClose={close} />}
    </>
  );
}

const organizationFilter = (may: May): readonly Filter[] => [
  {
    key: "org",
    label: "Organization",
    ...(may(organizationList) && { editor: (props) => <LookupEditor source={ORGANIZATIONS} {...props} /> }),
  },
];

const ORGANIZATIONS: LookupSource = {
  key: ["organization"],
  label: "Organization",
  isMultiple: false,
  search: async (text, signal) => {
    const query = { pageSize: 20, ...(text !== "" && { searchTerm: text }) };
    const { content } = await fetchData(organizationList, { query }, { signal });
    return content.map(({ organization: { identifier, name } }) => ({
      value: identifier,
      label: name,
      hint: identifier,
    }));
  },
};

function columnsFor(may: May, setOpen: (open: Open) => void): readonly Column<ProjectRow>[] {
  const columns: readonly Column<ProjectRow>[] = [
    {
      key: "name",
      header: "Name",
      isTitle: true,
      cell: ({ project }) => (
        <Link
          look="quiet"
          to="/projects/$org/$project"
          params={{ org: project.orgIdentifier, project: project.identifier }}
        >
          <Name>{project.name}</Name>
        </Link>
      ),
    },
    { key: "identifier", header: "Identifier", cell: ({ project }) => <code>{project.identifier}</code> },
    { key: "organization", header: "Organization", cell: ({ project }) => project.orgIdentifier },
    { key: "changed", header: "Changed", cell: (row) => <RelativeTime at={row.lastModifiedAt} />, align: "end" },
  ];
  if (!may(projectUpdate) && !may(projectDelete)) return columns;
  return [
    ...columns,
    {
      key: "actions",
      header: "Actions",
      hideHeader: true,
      align: "end",
      width: "3rem",
      cell: (row) => (
        <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.project.name}`} />}>
          {may(projectUpdate) && (
            <MenuItem icon="edit" onSelect={() => setOpen({ kind: "edit", row })}>
              Edit
            </MenuItem>
          )}
          {may(projectDelete) && (
            <MenuItem icon="trash" danger onSelect={() => setOpen({ kind: "delete", row })}>
              Delete
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ];
}
