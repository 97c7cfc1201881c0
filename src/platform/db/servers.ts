/**
 * The connected servers and the root keys that they know. Each server states its keys in the name of its connections,
 * which the database lists. Before an account changes its root key, every server has to know the new one.
 */
import { describeKeys } from "../crypto/seal.ts";
import type { KeyRing } from "../crypto/key-ring.ts";
import type { Store } from "./db.ts";

const PREFIX = "railhead server ";

/** PostgreSQL stores 63 characters, enough for two ids. */
export const serverName = (keys: KeyRing): string => `${PREFIX}${describeKeys(keys).replace(" and ", " ")}`;

/** Lists connected servers that do not know the key, by name, with their number of connections. */
export async function findServersWithoutKey(
  db: Store,
  keyId: string,
): Promise<{ readonly name: string; readonly connections: number }[]> {
  return db.query<{ name: string; connections: number }>(
    `select application_name as name, count(*) as connections from pg_stat_activity
      where datname = current_database() and starts_with(application_name, $1) and position($2 in application_name) = 0
      group by 1 order by 1`,
    [PREFIX, keyId],
  );
}
