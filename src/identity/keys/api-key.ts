import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";

export type ApiKeyType = "USER" | "SERVICE_ACCOUNT";

/** How a request names who a key belongs to: a person by id, a service account by its identifier in a scope. */
export type ParentRef = Place & {
  readonly type: ApiKeyType;
  /** Undefined for the person who asks. */
  readonly parentIdentifier: string | undefined;
};

/** Which key of which parent. */
export type KeyRef = ParentRef & { readonly apiKeyIdentifier: string };

/** Who a key belongs to. */
export type Parent = Place & {
  readonly type: ApiKeyType;
  readonly id: Uuid;
  /** As `ParentRef` names it. */
  readonly identifier: string;
  readonly name: string;
  readonly email: string;
};

/** Holds the tokens of one purpose: revoking it revokes them all. */
export type ApiKey = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Milliseconds that a token lives which names no end of its own; null: until it is revoked. */
  readonly defaultTimeToExpireToken: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type ApiKeyFields = Omit<ApiKey, "id" | "createdAt" | "updatedAt">;

export type ListedApiKey = ApiKey & { readonly tokens: number };

/** For the audit trail, which leaves out what is called a token. */
export const shownKey = ({ name, description, tags, defaultTimeToExpireToken }: ApiKey) => ({
  name,
  description,
  tags,
  defaultLifetime: defaultTimeToExpireToken,
});
