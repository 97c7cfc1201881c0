/** A connection to the server's database. Queries cost the measured server less than HTTP requests do. */
import { Client } from "pg";
import { setTimeout as rest } from "node:timers/promises";

export type DatabaseConnection = {
  readonly query: <T>(text: string, values?: readonly unknown[]) => Promise<T[]>;
  /** Polls until `count` executions have ended. Throws if one did not succeed. */
  readonly waitForEnded: (count: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};

const POLL_MS = 10;

export async function connectDatabase(url: string): Promise<DatabaseConnection> {
  const client = new Client({ connectionString: url, application_name: "railhead bench" });
  // If the server stops after a failure, that failure is reported and not the lost connection.
  client.on("error", () => undefined);
  await client.connect();
  const query = async <T>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
    (await client.query(text, [...values])).rows as T[];
  return {
    query,
    waitForEnded: async (count, signal) => {
      for (;;) {
        const [row] = await query<{ ended: number; bad: number }>(
          `select count(*)::int as ended, (count(*) filter (where status <> 'succeeded'))::int as bad
             from executions where ended_at is not null`,
        );
        if (row && row.bad > 0) throw new Error(`${row.bad} executions did not succeed`);
        if (row && row.ended >= count) return;
        await rest(POLL_MS, undefined, { signal });
      }
    },
    close: () => client.end(),
  };
}
