import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";
import type { Author } from "../identity/index.ts";

/** How to reach something outside. Lives in an account, an organization or a project. */
export type Connector = ConnectorKey & {
  readonly id: Uuid;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Names the type in `types/table.ts` that alone reads `spec`. */
  readonly type: string;
  readonly spec: unknown;
  /** What the last test of the spec found; null while nobody has tested it. */
  readonly status: ConnectionStatus | null;
  readonly activityAt: number;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** Where it lives, and its identifier there. */
export type ConnectorKey = Referred;

/** What is stored beside a connector when it is saved; no answer contains it. */
export type Saved = {
  /** Who saved it last; null where that is unknown, since it was saved before authors were stored. */
  readonly author: Author | null;
  /** The ids of the secrets that it names, by reference; null where a former version of the server has made it. */
  readonly secretIds: Readonly<Record<string, Uuid>> | null;
};

export type NewConnector = Omit<Connector, "id" | "status" | "activityAt" | "version" | "createdAt" | "updatedAt">;

export type ConnectionFault = { readonly reason: string; readonly message: string; readonly code: number };

export type ConnectionStatus = {
  readonly status: "SUCCESS" | "FAILURE";
  readonly errorSummary: string | null;
  readonly errors: readonly ConnectionFault[];
  readonly testedAt: number;
  /** The last success; null when there was none. */
  readonly connectedAt: number | null;
};

/** For the audit trail. Passwords stand in no spec: it names the secrets. */
export const shownConnector = ({ name, description, tags, type, spec }: NewConnector) => ({
  name,
  description,
  tags,
  type,
  spec,
});
