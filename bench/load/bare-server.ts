/**
 * The floor of the GraphQL benchmark, a separate process: `node:http`, a pool of the same size, the statements behind
 * the lists, and JSON.stringify of the selected fields. It has no authentication and no GraphQL schema. The path
 * selects the statement: `/0`, `/1`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";

export type BareOrder = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly statements: Readonly<
    Record<string, { readonly kind: keyof typeof DATA; readonly text: string; readonly values: unknown[] }>
  >;
};

type Row = Readonly<Record<"id" | "name" | "applicationName" | "status" | "startedAt" | "endedAt", string>>;

const execution = ({ id, applicationName, status, startedAt, endedAt }: Row) => ({
  id,
  application: { name: applicationName },
  status,
  startedAt: Number(startedAt),
  endedAt: Number(endedAt),
});

const DATA = {
  executions: (rows: readonly Row[]) => ({ executions: { nodes: rows.map(execution) } }),
  applications: (rows: readonly Row[]) => ({ applications: { nodes: rows.map(({ id, name }) => ({ id, name })) } }),
} as const;

process.once("message", ({ databaseUrl, poolSize, statements }: BareOrder) => {
  const pool = new Pool({ connectionString: databaseUrl, max: poolSize });
  const server = createServer((request, response) => {
    const statement = statements[(request.url ?? "").slice(1)];
    request.resume();
    if (!statement) return void response.writeHead(404).end();
    const { kind, text, values } = statement;
    // Statements that differ only in their values share a prepared statement.
    pool.query<Row>({ name: `list ${text.length}`, text, values }).then(
      ({ rows }) => {
        const body = JSON.stringify({ data: DATA[kind](rows) });
        const headers = {
          "content-type": "application/json; charset=utf-8",
          "content-length": Buffer.byteLength(body),
        };
        response.writeHead(200, headers).end(body);
      },
      () => response.writeHead(500).end(),
    );
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
// The process ends with the benchmark.
process.once("disconnect", () => process.exit(0));
