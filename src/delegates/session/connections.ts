/**
 * The authenticated connections of delegates to this replica. A connection has no session before its hello; it ends
 * with its token all the same.
 */
import type { Uuid } from "../../core/ids.ts";

export type Connection = {
  readonly accountId: Uuid;
  readonly tokenId: Uuid;
  /** Time of the connection, by the monotonic clock. */
  readonly since: number;
  /** False until the hello arrives. */
  greeted: boolean;
  readonly end: () => void;
};

export type Connections = ReturnType<typeof createConnections>;

export function createConnections() {
  const open = new Set<Connection>();
  return {
    opened: (connection: Connection): void => void open.add(connection),
    closed: (connection: Connection): void => void open.delete(connection),
    isOpen: (connection: Connection): boolean => open.has(connection),
    all: (): readonly Connection[] => [...open],
    ofTokens: (ids: ReadonlySet<Uuid>): readonly Connection[] => [...open].filter(({ tokenId }) => ids.has(tokenId)),
  };
}
