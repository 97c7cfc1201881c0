import type { Scope } from "../../api/permissions.ts";

/** Whose API keys a list shows. Keys of users belong to the account. */
export type TokenOwner =
  | { readonly apiKeyType: "USER"; readonly parentIdentifier?: undefined; readonly scope?: undefined }
  | { readonly apiKeyType: "SERVICE_ACCOUNT"; readonly parentIdentifier: string; readonly scope: Scope };

export type OwnerQuery = {
  readonly apiKeyType: TokenOwner["apiKeyType"];
  readonly parentIdentifier?: string;
} & Scope;

export const ownerQuery = ({ apiKeyType, parentIdentifier, scope }: TokenOwner): OwnerQuery => ({
  ...scope,
  apiKeyType,
  ...(parentIdentifier === undefined ? {} : { parentIdentifier }),
});
