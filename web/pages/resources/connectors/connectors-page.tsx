import type { DataOf } from "../../../api/client.ts";
import * as api from "../../../api/operations.gen.ts";
import { Badge } from "../../../ui/badge.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { PAGE_SIZE, withoutEmpty, type ResourceKind } from "../shared/resource-kind.ts";
import { ResourcePage } from "../shared/resource-page.tsx";
import { TestConnection } from "./test-connection.tsx";

export type ConnectorRow = DataOf<typeof api.connectorGet>;

const kind: ResourceKind<ConnectorRow> = {
  noun: "connector",
  title: "Connectors",
  icon: "plug",
  purpose: "A connector holds the address and the credentials of a registry or a cluster.",
  operations: {
    list: api.connectorList,
    get: api.connectorGet,
    create: api.connectorCreate,
    update: api.connectorUpdate,
    remove: api.connectorDelete,
    usedBy: api.connectorUsedBy,
    removeIsForced: true,
  },
  listQuery: (_scope, { q, page = 1 }) => ({
    pageIndex: page - 1,
    pageSize: PAGE_SIZE,
    ...(q === undefined ? {} : { searchTerm: q }),
  }),
  nameOf: ({ connector }) => connector.name,
  identifierOf: ({ connector }) => connector.identifier,
  documentOf: (data) => {
    const { connector } = data as ConnectorRow;
    return withoutEmpty({ ...connector, spec: withoutEmpty({ ...connector.spec }) });
  },
  template: () => ({
    name: "Staging cluster",
    identifier: "staging_cluster",
    type: "K8sCluster",
    spec: { credential: { type: "InheritFromDelegate" }, delegateSelectors: ["local"] },
  }),
  columns: [
    { key: "name", header: "Name", isTitle: true, cell: ({ connector }) => connector.name },
    { key: "identifier", header: "Identifier", cell: ({ connector }) => <code>{connector.identifier}</code> },
    { key: "type", header: "Type", cell: ({ connector }) => connector.type },
    { key: "status", header: "Connection", cell: (row) => <ConnectionStatus row={row} /> },
    { key: "changed", header: "Changed", align: "end", cell: (row) => <RelativeTime at={row.lastModifiedAt} /> },
  ],
  rowActions: (row, scope) => <TestConnection row={row} scope={scope} />,
};

export const ConnectorsPage = () => <ResourcePage kind={kind} />;

function ConnectionStatus({ row: { status } }: { readonly row: ConnectorRow }) {
  if (status === null) return <Badge>Not tested</Badge>;
  if (status.status === "SUCCESS")
    return (
      <Badge tone="success" icon="check">
        Connected
      </Badge>
    );
  return (
    <Badge tone="failed" icon="error" title={status.errorSummary ?? undefined}>
      Failed
    </Badge>
  );
}
