import type { Uuid } from "../../core/ids.ts";
import type { ManagerKindName } from "./kinds/kinds.ts";
import type { UsageScope } from "../scope/usage-scope.ts";

/** Wraps the data keys of secrets, and has the usage scope that they inherit. It belongs to the account. */
export type SecretManager = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly kind: ManagerKindName;
  /** Interpreted by its kind; never contains a key. */
  readonly spec: unknown;
  readonly usageScope: UsageScope | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** What a request says about a manager. */
export type NewManager = Pick<SecretManager, "identifier" | "name" | "description" | "tags" | "kind" | "spec"> & {
  /** Undefined: the whole account. Null: no execution may use its secrets. */
  readonly usageScope: SecretManager["usageScope"] | undefined;
};

/** The secret manager of a new account. Its id is the id of the account. */
export const builtInManager = (accountId: Uuid, at: number): Omit<SecretManager, "usageScope"> => ({
  id: accountId,
  identifier: "platformSecretManager",
  name: "Platform Secrets Manager",
  description: "",
  tags: {},
  kind: "platform",
  spec: {},
  version: 1,
  createdAt: at,
  updatedAt: at,
});

/** Names a manager in a request: GraphQL by id, REST by identifier. */
export type ManagerName =
  | { readonly by: "id"; readonly id: Uuid }
  | { readonly by: "identifier"; readonly identifier: string };
