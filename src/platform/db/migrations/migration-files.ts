import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrationProblem } from "./migration-problems.ts";

export type Migration = {
  /** From 1, without gaps: the position in the list plus one. */
  readonly number: number;
  /** The file's name, such as `000001_accounts.sql`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, in hex. */
  readonly sha256: string;
};

/** The folder of Railhead's migrations. */
export const MIGRATIONS = fileURLToPath(new URL("../../../../migrations/", import.meta.url));

/** The dump of the schema is in the same folder and is not a migration. */
export const SCHEMA_FILE = "schema.sql";

const NAME = /^(\d{6})_[a-z0-9_]+\.sql$/;
/** In the body of a function, `begin` has no semicolon. */
const OWN_TRANSACTION = /^\s*((?:begin|commit|rollback|start transaction)\b[^;\n]{0,40};)/im;

/** Reads the migrations of a folder in order. Throws a Problem with the first file that breaks a rule. */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql") && name !== SCHEMA_FILE).toSorted();
  return Promise.all(names.map((name, index) => readMigration(folder, name, index + 1)));
}

async function readMigration(folder: string, name: string, number: number): Promise<Migration> {
  // Duplicate numbers and gaps both appear as a number that is not the next one.
  if (Number(NAME.exec(name)?.[1]) !== number) throw migrationProblem("migration.bad_name", [name]);
  // The line ends of a checkout depend on the machine; the checksum must not.
  const sql = (await readFile(join(folder, name), "utf8")).replaceAll("\r\n", "\n");
  if (!sql.startsWith(`-- ${name} · compatible: `)) throw migrationProblem("migration.bad_header", [name, name]);
  const own = OWN_TRANSACTION.exec(sql)?.[1];
  if (own) throw migrationProblem("migration.own_transaction", [name, own]);
  return { number, name, sql, sha256: createHash("sha256").update(sql).digest("hex") };
}
