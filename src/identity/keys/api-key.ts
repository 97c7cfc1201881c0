import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";

export type ApiKeyType = "USER" | "SERVICE_ACCOUNT";

/** The owner of a key as a request names it: a user by id, a service account by its identifier in a scope. */
export type ParentRef = Place & {
  readonly type: ApiKeyType;
  /** Undefined for the caller. */
  readonly parentIdentifier: string | undefined;
};

/** Names a key of an owner. */
export type KeyRef = ParentRef & { readonly apiKeyIdentifier: string };

/** The owner of a key. */
export type Parent = Place & {
  readonly type: ApiKeyType;
  readonly id: Uuid;
  /** As in `ParentRef`. */
  readonly identifier: string;
  readonly name: string;
  readonly email: string;
};

/** A set of tokens for one purpose. Deleting it deletes its tokens. */
export type ApiKey = {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Lifetime in milliseconds of tokens without an end of their own; null for no limit. */
  readonly defaultTimeToExpireToken: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type ApiKeyFields = Omit<ApiKey, "id" | "createdAt" | "updatedAt">;

export type ListedApiKey = ApiKey & { readonly tokens: number };

/** The fields in the audit trail. The trail removes fields whose name says token, so the lifetime has another name. */
export const shownKey = ({ name, description, tags, defaultTimeToExpireToken }: ApiKey) => ({
  name,
  description,
  tags,
  defaultLifetime: defaultTimeToExpireToken,
});
