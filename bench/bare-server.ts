/**
 * The floor of the GraphQL benchmark, a process of its own: `node:http`, a pool
 * of the same size, the very statement behind `executions`, and JSON.stringify
 * of the fields that the query asks for. No credential, no schema, no words of
 * the wire. The address says which statement: `/1`, `/100`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";

export type BareOrder = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly statements: Readonly<Record<string, { readonly text: string; readonly values: unknown[] }>>;
};

type Row = { id: string; applicationName: string; status: string; startedAt: string; endedAt: string };

process.once("message", ({ databaseUrl, poolSize, statements }: BareOrder) => {
  const pool = new Pool({ connectionString: databaseUrl, max: poolSize });
  const server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    const statement = statements[name];
    request.resume();
    if (!statement) return void response.writeHead(404).end();
    // The same text at other limits is the same prepared statement.
    pool.query<Row>({ name: "list", ...statement }).then(
      ({ rows }) => {
        const nodes = rows.map(({ id, applicationName, status, startedAt, endedAt }) => ({
          id,
          application: { name: applicationName },
          status,
          startedAt: Number(startedAt),
          endedAt: Number(endedAt),
        }));
        const body = JSON.stringify({ data: { executions: { nodes } } });
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
// Its life hangs on the benchmark's.
process.once("disconnect", () => process.exit(0));
