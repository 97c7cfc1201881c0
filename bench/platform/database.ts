/** A look into the server's database from outside: lighter on the server than asking it over HTTP while it is measured. */
import { Client } from "pg";
import { setTimeout as rest } from "node:timers/promises";

export type Look = {
  readonly query: <T>(text: string, values?: readonly unknown[]) => Promise<readonly T[]>;
  /** Looks every few milliseconds until the number of executions that ended is reached. Throws when one ended badly. */
  readonly untilEnded: (count: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

const LOOK_MS = 10;

export async function lookInto(url: string): Promise<Look> {
  const client = new Client({ connectionString: url, application_name: "railhead bench" });
  // The server may stop under us, after a failure that is worth more than this one.
  client.on("error", () => undefined);
  await client.connect();
  const query = async <T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
    (await client.query(text, [...values])).rows as T[];
  return {
    query,
    untilEnded: async (count, signal) => {
      for (;;) {
        const [row] = await query<{ ended: number; bad: number }>(
          `select count(*)::int as ended, (count(*) filter (where status <> 'succeeded'))::int as bad
             from executions where ended_at is not null`,
        );
        if (row && row.bad > 0) throw new Error(`${row.bad} executions did not succeed`);
        if (row && row.ended >= count) return;
        await rest(LOOK_MS, undefined, { signal });
      }
    },
    close: () => client.end(),
  };
}
