/** The mail server of an account, with which steps send mails. An account has at most one; its id is that of the account. */
import type { AuditedChange } from "../../audit/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { isAddress } from "../../core/mail-address.ts";
import type { Security } from "../smtp/smtp-server.ts";

export type SmtpConfig = {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Null: the username is the sender's address. */
  readonly fromAddress: string | null;
  readonly security: Security;
  /** Null without a login. A login always has a password, and TLS. */
  readonly username: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A configuration with its password as it is stored. */
export type StoredSmtpConfig = SmtpConfig & { readonly passwordSealed: Buffer | null };

/** `password`: null keeps the stored one. */
export type NewSmtpConfig = Pick<SmtpConfig, "name" | "host" | "port" | "fromAddress" | "security" | "username"> & {
  readonly password: string | null;
};

/** The address that mails come from; undefined if neither field is one. */
export const senderOf = ({ fromAddress, username }: Pick<SmtpConfig, "fromAddress" | "username">): string | undefined =>
  [fromAddress, username].find((text) => text !== null && isAddress(text)) ?? undefined;

/** Identifies the sealed password of an account's configuration. */
export const sealIdentity = (accountId: Uuid): string => `smtp:${accountId}`;

/** The configuration for the audit trail, without the password. */
export const shownConfig = ({ name, host, port, fromAddress, security, username }: SmtpConfig) => ({
  name,
  host,
  port,
  fromAddress,
  security,
  username,
});

/** `password`: that it was changed. `to` and `fault`: recipients and failure of a test mail. */
type Shown = ReturnType<typeof shownConfig> & {
  readonly password?: "changed";
  readonly to?: string;
  readonly fault?: string | null;
};

/** The audit entry of a changed configuration. */
export const configEntry = (
  operation: "create" | "update" | "delete" | "test",
  accountId: Uuid,
  { before, after }: { readonly before?: Shown; readonly after?: Shown },
): AuditedChange => ({
  operation: `smtp-config.${operation}`,
  resourceType: "SETTING",
  resourceId: toWire(accountId),
  scope: {},
  before,
  after,
});
