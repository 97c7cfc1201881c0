import { types, type ClientConfig } from "pg";

/** How to reach a database: a `postgres://` address, or the driver's own options (a socket folder as `host`). */
export type Connection = string | ClientConfig;

const INT8 = 20;
const INT8_ARRAY = 1016;

/**
 * The driver's options for a connection, with what every connection of ours has in common.
 *
 * int8 arrives as Number: counts, byte offsets and epoch milliseconds fit. A value that does not
 * is refused by an error of the statement, never rounded.
 */
export function clientConfig(connection: Connection): ClientConfig {
  const options = typeof connection === "string" ? { connectionString: connection } : connection;
  return {
    application_name: "railhead",
    keepAlive: true,
    // Statements go out without waiting for the answer to the one before: `begin` costs no round trip.
    pipeline: true,
    types: { getTypeParser },
    ...options,
  };
}

/** How a value of a type is read from the text of a row. */
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

/** The address of a connection, as psql takes it. It holds the password: print it only for whoever asked for it. */
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
