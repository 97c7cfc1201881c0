/** SSH credentials: who logs in on a remote host, with which other secrets. Nothing here is a value. */
import { z } from "zod";
import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import { problem } from "../problems.ts";

/** The secrets by reference, as seen from where the credential lives. `Name`: as a request names them. */
export type SshLogin<Name = string> = {
  readonly port: number;
  readonly userName: string;
  readonly auth:
    | { readonly kind: "password"; readonly password: Name }
    | { readonly kind: "key"; readonly key: Name; readonly passphrase: Name | null };
};

/**
 * A login as a credential keeps it: with the ids of the secrets that it takes, by reference. Another secret that gets one
 * of these names is not handed on. Without ids nothing is: an older server has saved it.
 */
export type StoredLogin = SshLogin & { readonly ids?: Readonly<Record<string, Uuid>> };

/** How a request names a secret that a credential takes: GraphQL by id, REST by reference. */
export type SecretName =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "reference"; readonly reference: string };

export const DEFAULT_PORT = 22;

const USER_NAME =
  "must begin with a letter, a digit or _, hold letters, digits and _ . - @ \\ only, 128 at most, and not end with \\";
/** Neither an option nor a part of the shell's language, wherever it comes to stand. ssh takes none that ends with a backslash. */
export const userName = z
  .string(USER_NAME)
  .max(128, USER_NAME)
  .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.@\\-]*[A-Za-z0-9_.@-])?$/, USER_NAME);

/** What is wrong with the name, in words that follow it; undefined when nothing is. A credential may be older than this rule. */
export const userNameFault = (name: string): string | undefined =>
  userName.safeParse(name).success ? undefined : USER_NAME;

export const port = z.int().min(1).max(65_535);

export type SshRole = "password" | "key" | "passphrase";

/** What each of the secrets has to be. */
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

/** The secrets that it takes, each once. */
export function secretsOfLogin({ auth }: SshLogin): readonly { readonly role: SshRole; readonly reference: string }[] {
  if (auth.kind === "password") return [{ role: "password", reference: auth.password }];
  const key = { role: "key", reference: auth.key } as const;
  return auth.passphrase === null ? [key] : [key, { role: "passphrase", reference: auth.passphrase }];
}

/** For the audit trail: the names of what it takes stand in one list, since names like `password` are left out there. */
export const shownLogin = (login: SshLogin) => ({
  port: login.port,
  userName: login.userName,
  method: login.auth.kind === "key" ? "SSH_KEY" : "PASSWORD",
  uses: secretsOfLogin(login).map(({ reference }) => reference),
});

/** How a thing at `home` names the secret; undefined where it cannot: in another scope, or one further down. */
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

/** Ways to log in that clients of this family know and no delegate uses. `as`: how the request called it. */
export const unsupported = (what: keyof typeof REASONS, as: string = what): Error =>
  problem("secret.unsupported_login", [as, REASONS[what]]);
