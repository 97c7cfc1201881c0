import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { freshDatabase, type TestDatabase } from "../../../../test/support/database.ts";
import { clientConfig } from "../connection.ts";
import { seedStatistics } from "./statistics.ts";

let database: TestDatabase;
let client: Client;

before(async () => {
  database = await freshDatabase();
  client = new Client(clientConfig(database.connection));
  await client.connect();
});
after(async () => {
  await client?.end();
  await database?.drop();
});

/** The lines of the plan that a connection would use again and again. */
async function planOf(sql: string): Promise<string> {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (generic_plan) ${sql}`);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test("while the tables are empty, one row is searched by the whole primary key and not by another index", async () => {
  for (const table of ["executions", "tasks", "webhook_deliveries", "pipelines", "users"]) {
    const plan = await planOf(`select * from ${table} where account_id = $1 and id = $2`);
    assert.match(plan, new RegExp(`${table}_pkey`), table);
    assert.match(plan, /Index Cond: \(\(account_id = \$1\) AND \(id = \$2\)\)/, table);
  }
});

test("every table with an account has a statistic, also one that a later migration makes", async () => {
  const missing = (): Promise<{ rows: readonly { table: string }[] }> =>
    client.query(
      `select c.relname as table from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'account_id'
          and not exists (select from pg_stats s where s.tablename = c.relname and s.attname = 'account_id')`,
    );
  assert.deepEqual((await missing()).rows, []);
  await client.query("create table later (account_id uuid not null, id uuid not null)");
  assert.deepEqual((await missing()).rows, [{ table: "later" }]);
  await seedStatistics(client);
  assert.deepEqual((await missing()).rows, []);
});

test("the statistics of an analyzed table stay", async () => {
  await client.query("create table measured (account_id uuid not null)");
  await client.query("insert into measured select uuidv7() from generate_series(1, 100)");
  await client.query("analyze measured");
  await seedStatistics(client);
  const { rows } = await client.query("select n_distinct from pg_stats where tablename = 'measured'");
  assert.deepEqual(rows, [{ n_distinct: -1 }]);
});
