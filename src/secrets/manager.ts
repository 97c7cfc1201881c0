import type { Uuid } from "../core/ids.ts";
import type { UsageScope } from "./usage-scope.ts";

/** What wraps the data keys of secrets, and where those may be used unless they say otherwise. */
export type SecretManager = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly kind: "platform";
  readonly usageScope: UsageScope | null;
};

export const BUILT_IN = { identifier: "platformSecretManager", name: "Platform Secrets Manager" } as const;

/** How a request names a manager: GraphQL by id, REST by identifier. */
export type ManagerName =
  | { readonly by: "id"; readonly id: Uuid }
  | { readonly by: "identifier"; readonly identifier: string };
