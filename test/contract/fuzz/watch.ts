/** Records the effects of a request: committed rows, and log lines at error level. */
import { Writable } from "node:stream";
import type { Db } from "../../../src/platform/db/db.ts";

export type Written = { readonly accountId: string; readonly relation: string; readonly operation: string };

export type WatchedWrites = {
  /** Returns the changes committed since the last call. An update without a difference does not count. */
  readonly take: () => Promise<readonly Written[]>;
};

/** Records rows in the writer's transaction, so that a rollback removes them. */
export async function watchWrites(db: Db): Promise<WatchedWrites> {
  await db.query(`create table fuzz_writes (account_id uuid, relation text not null, operation text not null)`);
  await db.query(`create function fuzz_note() returns trigger language plpgsql as $$
    declare one jsonb := coalesce(to_jsonb(new), to_jsonb(old));
    begin
      if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) then return null; end if;
      insert into fuzz_writes values (
        coalesce(one->>'account_id', case tg_table_name when 'accounts' then one->>'id' end)::uuid, tg_table_name, tg_op);
      return null;
    end $$`);
  const tables = await db.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('request_counts', 'fuzz_writes')`,
  );
  for (const { name } of tables)
    await db.query(
      `create trigger fuzz_note after insert or update or delete on ${name} for each row execute function fuzz_note()`,
    );
  return {
    take: () =>
      db.query<Written>(
        `with gone as (delete from fuzz_writes returning account_id, relation, operation)
         select distinct account_id as "accountId", relation, operation from gone`,
      ),
  };
}

export type WatchedLog = { readonly to: Writable; readonly takeErrors: () => readonly string[] };

export function watchLog(): WatchedLog {
  let errors: string[] = [];
  const to = new Writable({
    write(line: Buffer, _encoding, done) {
      const text = String(line);
      if ((JSON.parse(text) as { level: number }).level >= 50) errors.push(text);
      done();
    },
  });
  return {
    to,
    takeErrors: () => {
      const taken = errors;
      errors = [];
      return taken;
    },
  };
}

/** Records uncaught errors of this process, which is also the server's. */
export function watchUncaught(): { readonly take: () => readonly unknown[]; readonly stop: () => void } {
  let seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  process.on("unhandledRejection", note).on("uncaughtException", note);
  return {
    take: () => {
      const taken = seen;
      seen = [];
      return taken;
    },
    stop: () => void process.off("unhandledRejection", note).off("uncaughtException", note),
  };
}
