/**
 * The authenticated connections of delegates to this replica. A connection has no session before its hello is taken;
 * it ends with its token all the same.
 */
import type { Uuid } from "../../core/ids.ts";

/**
 * Most connections of one token without a session: each may hold a frame that has not arrived whole, up to MAX_FRAME.
 * A delegate's connection is one of them for milliseconds.
 */
export const MAX_OPENING = 20;

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
  /** By token: connections without a session. */
  const opening = new Map<Uuid, Set<Connection>>();

  function begun(connection: Connection): void {
    const own = opening.get(connection.tokenId);
    own?.delete(connection);
    if (own?.size === 0) opening.delete(connection.tokenId);
  }

  return {
    opened: (connection: Connection): void => {
      open.add(connection);
      const own = opening.get(connection.tokenId);
      if (own) own.add(connection);
      else opening.set(connection.tokenId, new Set([connection]));
    },
    /** Called when the connection has a session. */
    begun,
    closed: (connection: Connection): void => {
      open.delete(connection);
      begun(connection);
    },
    /** Whether the token has MAX_OPENING connections without a session. */
    isFull: (tokenId: Uuid): boolean => (opening.get(tokenId)?.size ?? 0) >= MAX_OPENING,
    isOpen: (connection: Connection): boolean => open.has(connection),
    all: (): readonly Connection[] => [...open],
    ofTokens: (ids: ReadonlySet<Uuid>): readonly Connection[] => [...open].filter(({ tokenId }) => ids.has(tokenId)),
  };
}
