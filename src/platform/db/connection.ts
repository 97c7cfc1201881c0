import { types, type ClientConfig } from "pg";

/** Address of a database: a `postgres://` URL, or the driver's options (a socket folder as `host`). */
export type Connection = string | ClientConfig;

const INT8 = 20;
const INT8_ARRAY = 1016;

/**
 * The driver's options for a connection, with the options that all connections of Railhead share.
 *
 * int8 arrives as a Number: counts, byte offsets and epoch milliseconds fit. The statement fails for a value that
 * does not; it is never rounded.
 */
export function clientConfig(connection: Connection): ClientConfig {
  const options = typeof connection === "string" ? { connectionString: connection } : connection;
  return {
    application_name: "railhead",
    keepAlive: true,
    // Statements are sent without waiting for the previous answer: `begin` costs no round trip.
    pipeline: true,
    types: { getTypeParser },
    ...options,
  };
}

/** Parsers of column values by type. */
export const getTypeParser: typeof types.getTypeParser = ((oid: number, format?: "text" | "binary") => {
  const usual = types.getTypeParser(oid, format) as (value: never) => unknown;
  if (format === "binary") return usual;
  if (oid === INT8) return integer;
  if (oid === INT8_ARRAY)
    return (text: never) => (usual(text) as (string | null)[]).map((it) => (it === null ? null : integer(it)));
  return usual;
}) as typeof types.getTypeParser;

function integer(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`the int8 value ${text} does not fit into a number; select it as text`);
}

/** The address of a connection in the form of psql. It contains the password: print it only on request. */
export function connectionUrl(connection: Connection): string {
  if (typeof connection === "string") return connection;
  const { host = "localhost", port = 5432, user = "", password, database = "" } = connection;
  const login =
    typeof password === "string"
      ? `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
      : encodeURIComponent(user);
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgres://${login}@/${encodeURIComponent(database)}?${query.toString()}`;
}
