/**
 * Owns the list of all authenticated connections of delegates to this replica. A connection has no session
 * (sessions.ts) before its hello is processed, but it also ends with its token.
 */
import type { Uuid } from "../../core/ids.ts";

/**
 * Most connections of one token without a session: each may hold a frame that has not arrived whole, up to MAX_FRAME.
 * A delegate's connection is one of them for milliseconds.
 */
export const MAX_WITHOUT_SESSION = 20;

export type Connection = {
  readonly accountId: Uuid;
  readonly tokenId: Uuid;
  /** Time of the connection, by the monotonic clock. */
  readonly openedAt: number;
  /** False until the hello arrives. */
  isHelloReceived: boolean;
  readonly end: () => void;
};

export type Connections = ReturnType<typeof createConnections>;

export function createConnections() {
  const open = new Set<Connection>();
  /** Connections without a session, by token. */
  const withoutSession = new Map<Uuid, Set<Connection>>();

  function sessionStarted(connection: Connection): void {
    const own = withoutSession.get(connection.tokenId);
    own?.delete(connection);
    if (own?.size === 0) withoutSession.delete(connection.tokenId);
  }

  return {
    add: (connection: Connection): void => {
      open.add(connection);
      const own = withoutSession.get(connection.tokenId);
      if (own) own.add(connection);
      else withoutSession.set(connection.tokenId, new Set([connection]));
    },
    /** Called when a session of the connection starts. */
    sessionStarted,
    remove: (connection: Connection): void => {
      open.delete(connection);
      sessionStarted(connection);
    },
    /** Whether the token has MAX_WITHOUT_SESSION connections without a session. */
    isAtLimit: (tokenId: Uuid): boolean => (withoutSession.get(tokenId)?.size ?? 0) >= MAX_WITHOUT_SESSION,
    isOpen: (connection: Connection): boolean => open.has(connection),
    all: (): readonly Connection[] => [...open],
    ofTokens: (ids: ReadonlySet<Uuid>): readonly Connection[] => [...open].filter(({ tokenId }) => ids.has(tokenId)),
  };
}
