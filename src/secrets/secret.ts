import { isReserved, SECRET_IDENTIFIER } from "../core/identifier.ts";
import type { Place } from "../core/reference.ts";
import type { Uuid } from "../core/ids.ts";
import { shownLogin, type StoredLogin } from "./ssh/login.ts";
import type { UsageScope } from "./scope/usage-scope.ts";

/** Text and file have a content; a credential has a login, and takes what is secret of it from others. */
export type SecretType = "ENCRYPTED_TEXT" | "ENCRYPTED_FILE" | "SSH_CREDENTIAL";

/** What clients ask for; of the last kind there are none. */
export type RequestedType = SecretType | "WINRM_CREDENTIAL";

/** What anybody may learn of a secret. Its content is sealed elsewhere and never stands beside this. */
export type Secret = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly type: SecretType;
  /** Of an SSH credential, null for all others. */
  readonly ssh: StoredLogin | null;
  readonly managerId: Uuid;
  readonly managerIdentifier: string;
  /** True: its manager's scope holds, and `usageScope` is null. */
  readonly inheritsScope: boolean;
  readonly scopedToAccount: boolean;
  readonly usageScope: UsageScope | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** For the audit trail: what anybody may learn of it, and nothing of its content. */
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
 * Null takes all; an empty list takes none. `search` is a part of name or identifier, `description` a part of the
 * description, both in any case. A secret has to carry all of `tags`.
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

/** The identifier of a secret whose first one is that of a secret of another type with the same name. */
export const identifierBeside = (identifier: string, type: SecretType): string =>
  `${identifier.slice(0, 128 - SUFFIXES[type].length)}${SUFFIXES[type]}`;

/** The identifier of a secret that was given a name only: what expressions may call it. */
export function identifierFrom(name: string): string {
  const made = name.replaceAll(/[^0-9a-zA-Z_-]/g, "_");
  return SECRET_IDENTIFIER.test(made) && !isReserved(made) ? made : `_${made}`.slice(0, 128);
}
