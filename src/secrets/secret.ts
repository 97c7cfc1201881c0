import { isReserved, SECRET_IDENTIFIER } from "../core/identifier.ts";
import type { Place } from "../core/reference.ts";
import type { Uuid } from "../core/ids.ts";
import { shownLogin, type StoredLogin } from "./ssh/login.ts";
import type { UsageScope } from "./scope/usage-scope.ts";

/** Texts and files have a content. A credential has a login that references other secrets. */
export type SecretType = "ENCRYPTED_TEXT" | "ENCRYPTED_FILE" | "SSH_CREDENTIAL";

/** The types in requests. No secret has the type WINRM_CREDENTIAL. */
export type RequestedType = SecretType | "WINRM_CREDENTIAL";

/** A secret without its content, which is stored separately and sealed. */
export type Secret = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly type: SecretType;
  /** The login of an SSH credential; null for other types. */
  readonly ssh: StoredLogin | null;
  readonly managerId: Uuid;
  readonly managerIdentifier: string;
  /** True: the scope of its manager applies, and `usageScope` is null. */
  readonly inheritsScope: boolean;
  readonly scopedToAccount: boolean;
  readonly usageScope: UsageScope | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** What the audit trail shows of the secret, before and after a change: all but its content. */
export const shownSecret = (secret: Secret) => ({
  name: secret.name,
  description: secret.description,
  tags: secret.tags,
  type: secret.type,
  manager: secret.managerIdentifier,
  inheritsScope: secret.inheritsScope,
  scopedToAccount: secret.scopedToAccount,
  usageScope: secret.usageScope,
  ...(secret.ssh ? { ssh: shownLogin(secret.ssh) } : {}),
});

export type SecretKey = Place & { readonly identifier: string };

/**
 * Null matches all; an empty list matches none. `search` is a part of name or identifier, `description` a part of the
 * description, both case-insensitive. A secret must have all of `tags`.
 */
export type SecretFilter = Place & {
  readonly types: readonly SecretType[] | null;
  readonly identifiers: readonly string[] | null;
  readonly search: string;
  readonly name: string | null;
  /** Identifiers of secret managers. */
  readonly managers: readonly string[] | null;
  readonly description: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
};

const SUFFIXES = { ENCRYPTED_TEXT: "_text", ENCRYPTED_FILE: "_file", SSH_CREDENTIAL: "_ssh" } as const;

/** The identifier of a secret if a secret of another type already has its first identifier. */
export const identifierBeside = (identifier: string, type: SecretType): string =>
  `${identifier.slice(0, 128 - SUFFIXES[type].length)}${SUFFIXES[type]}`;

/** Makes an identifier that expressions may use from the name of a secret. */
export function identifierFrom(name: string): string {
  const made = name.replaceAll(/[^0-9a-zA-Z_-]/g, "_");
  return SECRET_IDENTIFIER.test(made) && !isReserved(made) ? made : `_${made}`.slice(0, 128);
}
