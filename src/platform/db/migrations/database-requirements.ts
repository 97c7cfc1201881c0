/** Checks whether Railhead can use a database, before changing anything in it. */
import type { Client } from "pg";
import { migrationProblem } from "./migration-problems.ts";

/** The first version with all features that the migrations use, such as `uuidv7()` and virtual columns. */
const MINIMUM_VERSION = 180_000;
const ENCODING = "UTF8";

type Facts = { readonly number: number; readonly version: string; readonly encoding: string };

/** Throws `migration.unsuitable_database`. `minimumVersion` is a `server_version_num`. */
export async function requireSuitableDatabase(
  client: Pick<Client, "query">,
  minimumVersion: number = MINIMUM_VERSION,
): Promise<void> {
  const { rows } = await client.query<Facts>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            pg_encoding_to_char(encoding) as encoding
       from pg_database where datname = current_database()`,
  );
  const [facts] = rows;
  if (facts && facts.number >= minimumVersion && facts.encoding === ENCODING) return;
  const major = String(Math.floor(minimumVersion / 10_000));
  throw migrationProblem("migration.unsuitable_database", [
    (facts?.version ?? "unknown").split(" ")[0] ?? "",
    facts?.encoding ?? "unknown",
    major,
    ENCODING,
  ]);
}
