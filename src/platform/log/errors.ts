/**
 * The fields of an error in the log. Other fields are omitted, because libraries attach whole connections to errors.
 */
const FIELDS = ["code", "status", "errno", "syscall", "address", "port", "severity", "table", "constraint"] as const;
const MAX_CAUSES = 5;

export type LoggedError = {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: unknown;
};

/** The database's `detail` is left out: it quotes the row. */
export function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
  const known = error as Error & Readonly<Record<string, unknown>>;
  const extra = FIELDS.flatMap((field): [string, unknown][] =>
    typeof known[field] === "string" || typeof known[field] === "number" ? [[field, known[field]]] : [],
  );
  const logged: LoggedError = {
    type: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth === MAX_CAUSES ? {} : { cause: loggedError(error.cause, depth + 1) }),
  };
  return { ...logged, ...Object.fromEntries(extra) };
}
