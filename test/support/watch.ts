/** Records the database and the log, so that a test can check that nothing changed and no error was logged. */
import { Writable } from "node:stream";
import type { Db } from "../../src/platform/db/db.ts";

/** Returns everything that a delegate's message could change, as text. */
export async function snapshot({ db }: { readonly db: Db }): Promise<string> {
  const tables = ["tasks", "executions", "execution_timers", "log_streams", "log_chunks", "execution_sequences"];
  const parts = await Promise.all(
    tables.map((table) => db.query(`select to_jsonb(t) - 'seen_at' as row from ${table} t order by 1`)),
  );
  return JSON.stringify(parts);
}

export type RecordedLog = {
  readonly stream: Writable;
  /** Log lines of level error, as pino writes them. */
  readonly errors: () => readonly string[];
  /** Number of lines that contain the text. */
  readonly count: (text: string) => number;
};

export function recordedLog(): RecordedLog {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().split("\n").filter(Boolean));
      done();
    },
  });
  return {
    stream,
    errors: () => lines.filter((line) => line.startsWith('{"level":50')),
    count: (text) => lines.filter((line) => line.includes(text)).length,
  };
}
