import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";
import type { Author } from "../identity/index.ts";

/** Settings for connections to an external system. Belongs to an account, an organization or a project. */
export type Connector = ConnectorKey & {
  readonly id: Uuid;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The name of a type in `types/table.ts`. Only the type reads `spec`. */
  readonly type: string;
  readonly spec: unknown;
  /** The result of the last test; null before the first test. */
  readonly status: ConnectionStatus | null;
  readonly activityAt: number;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Place and identifier. */
export type ConnectorKey = Referred;

/** Stored with a connector on each save; no answer contains it. */
export type SavedBy = {
  /** The user of the last save; null for connectors saved before authors were stored. */
  readonly author: Author | null;
  /** The ids of the referenced secrets, by reference; null for connectors saved by an older server. */
  readonly secretIds: Readonly<Record<string, Uuid>> | null;
};

export type NewConnector = Omit<Connector, "id" | "status" | "activityAt" | "version" | "createdAt" | "updatedAt">;

export type ConnectionFault = { readonly reason: string; readonly message: string; readonly code: number };

export type ConnectionStatus = {
  readonly status: "SUCCESS" | "FAILURE";
  readonly errorSummary: string | null;
  readonly errors: readonly ConnectionFault[];
  readonly testedAt: number;
  /** Time of the last success; null before the first one. */
  readonly connectedAt: number | null;
};

/** The connector for the audit trail. A spec contains references to secrets, never passwords. */
export const shownConnector = ({ name, description, tags, type, spec }: NewConnector) => ({
  name,
  description,
  tags,
  type,
  spec,
});
