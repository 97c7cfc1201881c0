/**
 * Problems between the server and its database, with messages for the caller. Errors of a statement itself (a
 * duplicate key, a wrong type) are not converted here: they pass through as pg's DatabaseError, and the slice that
 * sent the statement interprets them.
 */
import { DatabaseError } from "pg";
import { Problem, problemsOf } from "../../core/problem.ts";

export const problems = {
  "db.unavailable": [503, "UNEXPECTED", "The database cannot be reached at the moment. Try again shortly."],
  "db.commit_unknown": [
    503,
    "UNEXPECTED",
    "The connection to the database was lost while the change was being saved. Look whether it was saved before you repeat it.",
  ],
  "db.busy": [503, "UNEXPECTED", "The database has no free connection at the moment. Try again shortly."],
  "db.too_slow": [
    503,
    "UNEXPECTED",
    "The database took too long to answer, and the request was given up. Nothing was saved.",
  ],
  "db.conflict": [
    503,
    "UNEXPECTED",
    "The change met another one at the same moment, and was given up. Nothing was saved; try again.",
  ],
  "db.plan_changed": [
    503,
    "UNEXPECTED",
    "Another server has just upgraded the database. Nothing was saved; try again.",
  ],
  "db.disk_full": [
    503,
    "UNEXPECTED",
    "The disk of the database is full. Nothing was saved and nothing is lost; free some space and try again.",
  ],
  "db.disk_failed": [
    503,
    "UNEXPECTED",
    "The database could not read or write its disk. Nothing was saved; its log has the details.",
  ],
  "db.bad_text": [
    400,
    "INVALID_REQUEST",
    "A text of the request holds a character that cannot be stored, such as NUL.",
  ],
  "db.refused": [503, "UNEXPECTED", "The database refuses the server's user name, password or database name."],
  "db.closed": [503, "UNEXPECTED", "The server is stopping and no longer uses its database."],
  "db.transaction_over": [500, "UNEXPECTED", "A statement was sent through a transaction that had already ended."],
  "db.transaction_failed": [
    500,
    "UNEXPECTED",
    "A statement of the transaction failed, so that nothing of it was saved.",
  ],
} as const;

export const problem = problemsOf(problems);

type Code = keyof typeof problems;

/** Seconds until a retry makes sense; longer for faults that only the operator can repair. */
const RETRY_AFTER: Partial<Record<Code, number>> = {
  "db.unavailable": 2,
  "db.busy": 1,
  "db.too_slow": 5,
  "db.conflict": 1,
  "db.plan_changed": 1,
  "db.disk_full": 30,
  "db.disk_failed": 30,
  "db.refused": 30,
};

/** Maps SQLSTATE to Railhead's codes. Two characters name a whole class. */
const BY_STATE: Readonly<Record<string, Code>> = {
  "08": "db.unavailable",
  "57P01": "db.unavailable", // the administrator ended the connection
  "57P02": "db.unavailable", // another backend crashed
  "57P03": "db.unavailable", // starting up, shutting down or recovering
  "57P05": "db.unavailable", // idle for too long
  "53300": "db.busy",
  "53200": "db.busy", // out of memory
  "53400": "db.busy",
  "57014": "db.too_slow", // statement_timeout, or cancelled by hand
  "25P03": "db.too_slow", // idle in transaction
  "25P04": "db.too_slow", // transaction_timeout
  "23503": "db.conflict", // what the row belongs to was deleted at the same moment
  "55P03": "db.conflict", // lock_timeout
  "40001": "db.conflict",
  "40P01": "db.conflict", // deadlock
  "53100": "db.disk_full",
  "58030": "db.disk_failed",
  "22021": "db.bad_text",
  "22P05": "db.bad_text",
  "28": "db.refused",
  "3D000": "db.refused",
};

const BY_ERRNO: ReadonlySet<string> = new Set(
  "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT EACCES".split(
    " ",
  ),
);

/** The driver reports these errors without a code; only the text identifies them. */
const BY_TEXT: readonly (readonly [RegExp, Code])[] = [
  [/^timeout exceeded when trying to connect/, "db.busy"],
  [/^Cannot use a pool after calling end/, "db.closed"],
  [
    /^(Connection terminated|timeout expired|Client has encountered a connection error|Client was closed)/,
    "db.unavailable",
  ],
  [/^The server does not support SSL/, "db.refused"],
];

/**
 * Returns the problem for an error of pg; undefined if the statement itself is wrong. Only for errors of pg's own
 * calls: an ENOENT of other code does not concern the database.
 */
export function databaseProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  if (!code) return undefined;
  const retryAfter = RETRY_AFTER[code];
  return problem(code, [], { cause: error, ...(retryAfter === undefined ? {} : { retryAfter }) });
}

/**
 * Whether the error of a query or a transaction is independent of its data: the database is unreachable or full, or a
 * column is missing. False for data that a statement rejects (SQLSTATE classes 22 and 23, which include
 * `db.bad_text`), and for errors that are not the database's.
 */
export function isDatabaseError(error: unknown): boolean {
  if (error instanceof Problem) return error.status >= 500;
  return error instanceof DatabaseError && !/^2[23]/.test(error.code ?? "");
}

function codeOf(error: Error): Code | undefined {
  const state = "code" in error && typeof error.code === "string" ? error.code : "";
  // A migration by another server changed a table of a prepared statement.
  if ("routine" in error && error.routine === "RevalidateCachedQuery") return "db.plan_changed";
  // A full disk is reported as 53100, or as 58030 with the system's reason in its text.
  if (state === "58030" && /No space left on device|quota exceeded/i.test(error.message)) return "db.disk_full";
  if (state !== "")
    return BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? (BY_ERRNO.has(state) ? "db.unavailable" : undefined);
  return BY_TEXT.find(([text]) => text.test(error.message))?.[1];
}
