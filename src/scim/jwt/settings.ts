/** The four settings of the account for signed tokens, and whether a token matches them. */
import type { KeySource } from "./keys.ts";
import { verifyToken } from "./verify.ts";

export const JWT_SETTINGS = [
  "scim_jwt_token_jwks_keys_url",
  "scim_jwt_token_key_field",
  "scim_jwt_token_value_field",
  "scim_jwt_token_service_account_id",
] as const;

export type JwtSettings = {
  readonly url: string;
  readonly field: string;
  readonly value: string;
  /** The identifier of the service account. */
  readonly identifier: string;
};

/** `values` are those of JWT_SETTINGS; an empty text is a missing one. */
export const settingsOf = ([url = "", field = "", value = "", identifier = ""]: readonly string[]): JwtSettings => ({
  url,
  field,
  value,
  identifier,
});

/** Rejects with the reason unless the token is signed by a key of the set, is valid now, and has the claim. */
export async function requireMatch(
  token: string,
  { url, field, value }: JwtSettings,
  { keys, now }: { readonly keys: KeySource; readonly now: number },
): Promise<void> {
  const claims = await verifyToken(token, { url, keys, now });
  if (!Object.hasOwn(claims, field) || claims[field] !== value) throw new Error(`its claim ${field} is another one`);
}
