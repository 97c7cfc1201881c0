/** Connects a test to the embedded database of a running server, to read it or to hold locks in it. */
import type { Db } from "../../../src/platform/db/db.ts";
import { runningConnection } from "../../../src/platform/db/embedded/running.ts";
import { openDb } from "../../../src/platform/db/pool/pool.ts";
import { silentLog } from "../database.ts";
import type { ServerFolder } from "./server-process.ts";

export async function withEmbedded<T>(
  { dataDir }: Pick<ServerFolder, "dataDir">,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const connection = await runningConnection(dataDir);
  if (!connection) throw new Error(`There is no running database in ${dataDir}.`);
  const db = openDb({ connection, max: 2, log: silentLog, onError: () => {} });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
