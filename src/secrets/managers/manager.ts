import type { Uuid } from "../../core/ids.ts";
import type { ManagerKindName } from "./kinds/kinds.ts";
import type { UsageScope } from "../scope/usage-scope.ts";

/** What wraps the data keys of secrets, and where those may be used unless they say otherwise. It lives in the account. */
export type SecretManager = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly kind: ManagerKindName;
  /** As its kind understands it; never a key. */
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

/** What every account begins with; its id is the account's own. */
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

/** How a request names a manager: GraphQL by id, REST by identifier. */
export type ManagerName =
  | { readonly by: "id"; readonly id: Uuid }
  | { readonly by: "identifier"; readonly identifier: string };
