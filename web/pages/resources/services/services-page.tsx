import type { DataOf } from "../../../api/client.ts";
import * as api from "../../../api/operations.gen.ts";
import { RelativeTime } from "../../../ui/time.tsx";
import { PAGE_SIZE, withoutEmpty, type ResourceKind } from "../shared/resource-kind.ts";
import { ResourcePage } from "../shared/resource-page.tsx";

type Row = DataOf<typeof api.serviceList>["content"][number];

const kind: ResourceKind<Row> = {
  noun: "service",
  title: "Services",
  icon: "box",
  purpose: "A service is what stages deploy to environments.",
  operations: {
    list: api.serviceList,
    get: api.serviceGet,
    create: api.serviceCreate,
    update: api.serviceUpdate,
    remove: api.serviceDelete,
    usedBy: api.serviceUsedBy,
  },
  listQuery: (_scope, { q, page = 1 }) => ({
    page: page - 1,
    size: PAGE_SIZE,
    ...(q === undefined ? {} : { searchTerm: q }),
  }),
  nameOf: ({ service }) => service.name,
  identifierOf: ({ service }) => service.identifier,
  documentOf: (data) => {
    const { name, identifier, orgIdentifier, projectIdentifier, description, tags } = (data as Row).service;
    return withoutEmpty({ name, identifier, orgIdentifier, projectIdentifier, description, tags });
  },
  template: () => ({ name: "Web shop", identifier: "web_shop" }),
  deployments: "service",
  columns: [
    { key: "name", header: "Name", isTitle: true, cell: ({ service }) => service.name },
    { key: "identifier", header: "Identifier", cell: ({ service }) => <code>{service.identifier}</code> },
    { key: "description", header: "Description", wideOnly: true, cell: ({ service }) => service.description },
    { key: "changed", header: "Changed", align: "end", cell: (row) => <RelativeTime at={row.lastModifiedAt} /> },
  ],
};

export const ServicesPage = () => <ResourcePage kind={kind} />;
