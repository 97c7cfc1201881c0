/** Parts of a run by name: two servers, three delegates, one database, and a proxy on each connection between them. */

export const SERVERS = ["server-a", "server-b"] as const;
export const DELEGATES = ["delegate-1", "delegate-2", "delegate-3"] as const;
/** The processes whose clocks change. */
export const CLOCKED_SERVER = "server-b";
export const CLOCKED_DELEGATE = "delegate-2";
/** The delegate whose work folder is on a small file system, if one can be mounted. */
export const SMALL_DISK = "delegate-3";

export type ServerName = (typeof SERVERS)[number];
export type DelegateName = (typeof DELEGATES)[number];
export type ProcessName = ServerName | DelegateName;
/**
 * `link`: from a delegate to the servers. `clients`: from clients to one server. `database`: from one server to the
 * database.
 */
export type LinkName = `${DelegateName} link` | `${ServerName} clients` | `${ServerName} database`;
export type Target = ProcessName | LinkName | "database";

export const LINKS: readonly LinkName[] = [
  ...DELEGATES.map((name) => `${name} link` as const),
  ...SERVERS.map((name) => `${name} clients` as const),
  ...SERVERS.map((name) => `${name} database` as const),
];
