import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { dataQuery } from "../../../api/client.ts";
import { projectCreate, projectDelete, projectList, projectUpdate } from "../../../api/operations.gen.ts";
import { useMay } from "../../../api/permissions.ts";
import { ListPage } from "../../../components/list-page.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
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
  const may = useMay({});
  const [open, setOpen] = useState<Open>({ kind: "none" });
  const query = {
    pageSize: PAGE_SIZE,
    pageIndex: (search.page ?? 1) - 1,
    ...(search.q ? { searchTerm: search.q } : {}),
  };
  const list = useQuery({ ...dataQuery(projectList, { query }), placeholderData: (former) => former });
  const create = may(projectCreate) && (
    <Button variant="primary" icon="plus" onClick={() => setOpen({ kind: "create" })}>
      New project
    </Button>
  );
  const close = (): void => setOpen({ kind: "none" });
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
        empty={
          <EmptyState icon="folder" title="No projects yet" actions={create}>
            A project holds pipelines with their environments, services, connectors and secrets.
          </EmptyState>
        }
      />
      {open.kind === "create" && <EditProject former={undefined} onClose={close} />}
      {open.kind === "edit" && <EditProject former={open.row} onClose={close} />}
      {open.kind === "delete" && <DeleteProject row={open.row} onClose={close} />}
    </>
  );
}

function columnsFor(may: ReturnType<typeof useMay>, setOpen: (open: Open) => void): readonly Column<ProjectRow>[] {
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
          {project.name}
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
