import type { DataOf } from "../../../api/client.ts";
import * as api from "../../../api/operations.gen.ts";
import { Badge } from "../../../ui/badge.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { PAGE_SIZE, withoutEmpty, type ResourceKind } from "../shared/resource-kind.ts";
import { ResourcePage } from "../shared/resource-page.tsx";

type Row = DataOf<typeof api.environmentList>["content"][number];

const kind: ResourceKind<Row> = {
  noun: "environment",
  title: "Environments",
  icon: "globe",
  purpose: "Stages deploy to an environment. Production environments count for the delivery measures.",
  operations: {
    list: api.environmentList,
    get: api.environmentGet,
    create: api.environmentCreate,
    update: api.environmentUpdate,
    remove: api.environmentDelete,
    usedBy: api.environmentUsedBy,
  },
  listQuery: (_scope, { q, page = 1 }) => ({
    page: page - 1,
    size: PAGE_SIZE,
    ...(q === undefined ? {} : { searchTerm: q }),
  }),
  nameOf: ({ environment }) => environment.name,
  identifierOf: ({ environment }) => environment.identifier,
  documentOf: (data) => {
    const { name, identifier, orgIdentifier, projectIdentifier, description, type, tags } = (data as Row).environment;
    return withoutEmpty({ name, identifier, orgIdentifier, projectIdentifier, description, type, tags });
  },
  template: () => ({ name: "Staging", identifier: "staging", type: "PreProduction" }),
  deployments: "environment",
  columns: [
    { key: "name", header: "Name", isTitle: true, cell: ({ environment }) => environment.name },
    { key: "identifier", header: "Identifier", cell: ({ environment }) => <code>{environment.identifier}</code> },
    {
      key: "type",
      header: "Type",
      cell: ({ environment }) => <Badge>{environment.type === "Production" ? "Production" : "Pre-production"}</Badge>,
    },
    { key: "changed", header: "Changed", align: "end", cell: (row) => <RelativeTime at={row.lastModifiedAt} /> },
  ],
};

export const EnvironmentsPage = () => <ResourcePage kind={kind} />;
