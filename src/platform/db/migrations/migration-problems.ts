import { problemsOf } from "../../../core/problem.ts";

/**
 * Reasons why a database and the program's migrations do not match. They stop the start of a server; operators read
 * them.
 */
export const problems = {
  "migration.newer_database": [
    503,
    "UNEXPECTED",
    "This server is older than its database, which already has the migration %s. Start the newer version of Railhead.",
  ],
  "migration.missing": [
    503,
    "UNEXPECTED",
    "The database has the migration %s, but this version of Railhead lacks that file.",
  ],
  "migration.changed": [
    503,
    "UNEXPECTED",
    "The migration %s was changed after it had been applied to this database. Restore the file; put the change into a new one.",
  ],
  "migration.unsuitable_database": [
    503,
    "UNEXPECTED",
    "The database of DATABASE_URL is PostgreSQL %s with the encoding %s; Railhead needs PostgreSQL %s or newer and a database with the encoding %s.",
  ],
  "migration.bad_name": [
    500,
    "UNEXPECTED",
    "%s is no name of a migration: it takes the form 000001_lower_case_words.sql, numbered without gaps.",
  ],
  "migration.bad_header": [500, "UNEXPECTED", "The first line of the migration %s must be: -- %s · compatible: …"],
  "migration.own_transaction": [
    500,
    "UNEXPECTED",
    "The migration %s contains `%s`: each migration is one transaction already.",
  ],
} as const;

export const migrationProblem = problemsOf(problems);
