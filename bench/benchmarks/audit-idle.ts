/**
 * The cost of one sealing sweep of the audit trail while nothing is recorded, at 3,000, 300,000 and 3,000,000 sealed
 * entries. It is the processor time of the database's backend process and of this process together. The platform sweeps
 * once a second, so the milliseconds of one sweep are also the milliseconds per second.
 */
import { Client } from "pg";
import { sealEntries } from "../../src/audit/index.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { silentLog } from "../../test/support/database.ts";
import { cpuSecondsOf } from "../platform/processes.ts";
import { withRatio, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

const SIZES: Sizes<{ entries: readonly number[]; sweeps: number }> = {
  whole: { entries: [3_000, 300_000, 3_000_000], sweeps: 2_000 },
  brief: { entries: [100, 200], sweeps: 50 },
};

export const auditIdle: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { entries, sweeps } = SIZES[size];
      const connectionString = await server.databaseUrl();
      const client = new Client({ connectionString });
      await client.connect();
      // With one connection, one backend process serves all sweeps.
      const db = openDb({ connection: connectionString, max: 1, log: silentLog, onError: () => {} });
      const seal = sealEntries({ db });
      const costs: number[] = [];
      for (const count of entries) {
        progress(`${count} entries`);
        await fill(client, count);
        const [row] = await db.query<{ pid: number }>("select pg_backend_pid() as pid");
        await seal();
        const from = cpuSecondsOf(row?.pid ?? 0) + processCpuSeconds();
        for (let sweep = 0; sweep < sweeps; sweep += 1) {
          signal.throwIfAborted();
          await seal();
        }
        // At least half a tick: a few sweeps may take less time than the kernel's clock resolves.
        costs.push(Math.max(0.005, cpuSecondsOf(row?.pid ?? 0) + processCpuSeconds() - from) / sweeps);
      }
      await db.close();
      await client.end();
      const floor = (costs[0] ?? Number.NaN) * 1_000;
      return {
        definition: `Processor time of one idle sealing sweep, database and server together; floor: at ${entries[0]} entries.`,
        parameters: { entries, sweeps },
        figures: entries.map((count, at) =>
          withRatio({
            ...{ name: `idle sweep at ${count} entries`, value: (costs[at] ?? Number.NaN) * 1_000, unit: "ms", floor },
            ...(at === 0 ? {} : { goal: { of: "ratio", atMost: 2 } }),
          }),
        ),
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

const processCpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Adds sealed entries up to the count. Their hashes are empty, because the benchmark does not verify them. */
async function fill(client: Client, count: number): Promise<void> {
  // The server's sealer waits for this lock and then finds all entries sealed.
  await client.query("begin; select 1 from audit_sealed for update");
  await client.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id)
     select a.id, uuidv7(), 0, 'system', 'system', 'thing.make', 'THING', n::text
       from accounts a, generate_series(1, greatest(0, $1 - (select count(*) from audit_entries))) n`,
    [count],
  );
  await client.query(
    `with head as (select account_id, sequence from audit_chains),
          added as (
            insert into audit_seals (account_id, sequence, entry_id, content, hash)
            select e.account_id, h.sequence + row_number() over (order by e.xid, e.id), e.id, '', ''
              from audit_entries e join head h on h.account_id = e.account_id
             where not exists (select 1 from audit_seals s where s.account_id = e.account_id and s.entry_id = e.id)
            returning sequence)
     update audit_chains set sequence = greatest(sequence, (select max(sequence) from added))`,
  );
  await client.query(
    "update audit_sealed set (xid, id) = (select xid, id from audit_entries order by xid desc, id desc limit 1)",
  );
  await client.query("commit");
  await client.query("vacuum analyze audit_entries, audit_seals");
}
