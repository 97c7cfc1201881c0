/** Logins of SSH credentials: user, port, and references to the secrets that they use. They contain no secret value. */
import { z } from "zod";
import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { problem } from "../problems.ts";

/** The secrets are references from the credential's place; in requests they have the type `Name`. */
export type SshLogin<Name = string> = {
  readonly port: number;
  readonly userName: string;
  readonly auth:
    | { readonly kind: "password"; readonly password: Name }
    | { readonly kind: "key"; readonly key: Name; readonly passphrase: Name | null };
};

/**
 * A login as it is stored, with the ids of its secrets by reference. A step gets a secret only if its id is the stored
 * one. A login that an older server saved has no ids, and cannot be used.
 */
export type StoredLogin = SshLogin & { readonly ids?: Readonly<Record<string, Uuid>> };

/** Names a secret of a login in a request: GraphQL by id, REST by reference. */
export type SecretName =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "reference"; readonly reference: string };

export const DEFAULT_PORT = 22;

const USER_NAME =
  "must begin with a letter, a digit or _, hold letters, digits and _ . - @ \\ only, 128 at most, and not end with \\";
/** The pattern excludes command-line options and shell syntax. ssh rejects a name that ends with a backslash. */
export const userName = z
  .string(USER_NAME)
  .max(128, USER_NAME)
  .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.@\\-]*[A-Za-z0-9_.@-])?$/, USER_NAME);

/**
 * Returns the fault of a user name as the predicate of a sentence; undefined for a valid name. Stored credentials may
 * be older than this rule.
 */
export const userNameFault = (name: string): string | undefined =>
  userName.safeParse(name).success ? undefined : USER_NAME;

export const port = z.int().min(1).max(65_535);

export type SshRole = "password" | "key" | "passphrase";

/** The required type of each secret of a login. */
export const ROLES: {
  readonly [role in SshRole]: {
    readonly type: "ENCRYPTED_TEXT" | "ENCRYPTED_FILE";
    readonly what: string;
  };
} = {
  password: { type: "ENCRYPTED_TEXT", what: "the password of an SSH credential, which is a text" },
  key: { type: "ENCRYPTED_FILE", what: "the key of an SSH credential, which is a file" },
  passphrase: { type: "ENCRYPTED_TEXT", what: "the passphrase of an SSH credential, which is a text" },
};

/** Returns the secrets of a login, each with its role. */
export function secretsOfLogin({ auth }: SshLogin): readonly { readonly role: SshRole; readonly reference: string }[] {
  if (auth.kind === "password") return [{ role: "password", reference: auth.password }];
  const key = { role: "key", reference: auth.key } as const;
  return auth.passphrase === null ? [key] : [key, { role: "passphrase", reference: auth.passphrase }];
}

/** The login for the audit trail. The references form one list, because the trail omits fields such as `password`. */
export const shownLogin = (login: SshLogin) => ({
  port: login.port,
  userName: login.userName,
  method: login.auth.kind === "key" ? "SSH_KEY" : "PASSWORD",
  uses: secretsOfLogin(login).map(({ reference }) => reference),
});

/**
 * Returns the reference from `home` to the secret; undefined if the secret lives in another scope or in an inner one.
 */
export function referenceFrom(home: Place, secret: Place & { readonly identifier: string }): string | undefined {
  const { orgIdentifier, projectIdentifier, identifier } = secret;
  if (orgIdentifier === null) return `account.${identifier}`;
  if (orgIdentifier !== home.orgIdentifier) return undefined;
  if (projectIdentifier === null) return `org.${identifier}`;
  return projectIdentifier === home.projectIdentifier ? identifier : undefined;
}

const REASONS = {
  KERBEROS: "delegates log in with a password or a key",
  SSH_KEY_FILE_PATH: "a delegate reads no files of its machine for steps; keep the key in an encrypted file",
} as const;

/** The problem for login types that delegates do not support. `as` is the name in the request. */
export const unsupported = (what: keyof typeof REASONS, as: string = what): Error =>
  problem("secret.unsupported_login", [as, REASONS[what]]);
