/**
 * Statistics for tables that PostgreSQL has not analyzed yet (decision 0016).
 *
 * Without statistics PostgreSQL takes an account for a small part of a table. It then plans the search for one row of
 * an empty table by any index that begins with `account_id`, and uses that plan until it analyzes the table, a minute
 * later: each execution reads all executions before it. Most installations have one account.
 */
import type { Client } from "pg";

/** Stores for each table that was never analyzed that all its rows belong to one account. The role owns the tables. */
export async function seedStatistics(client: Pick<Client, "query">): Promise<void> {
  await client.query(
    `select pg_restore_attribute_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', a.attname::text,
              'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real)
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
      where n.nspname = current_schema and c.relkind = 'r' and a.attname = 'account_id' and not a.attisdropped
        and not exists (select from pg_stats s
                         where s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname)`,
  );
}
