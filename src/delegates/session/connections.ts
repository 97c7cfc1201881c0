/**
 * The connections of delegates to this replica, from the moment on when their token was believed. One that has said no
 * hello yet is no session, and ends with its token all the same.
 */
import type { Uuid } from "../../core/ids.ts";

export type Connection = {
  readonly accountId: Uuid;
  readonly tokenId: Uuid;
  /** When it came, by the monotonic clock. */
  readonly since: number;
  /** False until it says hello. */
  greeted: boolean;
  readonly end: () => void;
};

export type Connections = ReturnType<typeof createConnections>;

export function createConnections() {
  const open = new Set<Connection>();
  return {
    opened: (connection: Connection): void => void open.add(connection),
    closed: (connection: Connection): void => void open.delete(connection),
    all: (): readonly Connection[] => [...open],
    ofTokens: (ids: ReadonlySet<Uuid>): readonly Connection[] => [...open].filter(({ tokenId }) => ids.has(tokenId)),
  };
}
