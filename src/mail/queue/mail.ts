/** Mails that steps send, and how they end. */
import type { Uuid } from "../../core/ids.ts";
import { referred, type Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { isAddress } from "../../core/mail-address.ts";
import { MAX_BODY_BYTES, MAX_RECIPIENTS, MAX_SUBJECT } from "../limits.ts";

/** The step that sends a mail. It waits for one mail at a time; others are `fireAndForget`. */
export type MailRef = {
  readonly accountId: Uuid;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
};

export type MailContent = {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** References of user groups: `account.x`, `org.x`, or `x` in the project. */
  readonly toUserGroups: readonly string[];
  readonly ccUserGroups: readonly string[];
  readonly subject: string;
  readonly body: string;
};

export type NewMail = MailRef &
  MailContent & {
    readonly orgIdentifier: string;
    readonly projectIdentifier: string;
    /** The step does not wait for the end, which is not reported. A failure is in the audit trail. */
    readonly fireAndForget: boolean;
    /** No try begins after this time. */
    readonly deadlineAt: number;
  };

/** The end of a mail. `message` is for the user who runs the step. */
export type MailOutcome =
  /** The mail server has accepted the mail for all recipients. */
  | { readonly kind: "sent"; readonly recipients: number }
  /** The mail was sent to none. */
  | { readonly kind: "failed"; readonly message: string }
  /** Whether the mail was delivered cannot be found out. */
  | { readonly kind: "unknown"; readonly message: string };

/**
 * Reports the end of a mail that is not `fireAndForget`. Begins a transaction, locks the execution, then calls `take`
 * in it, which removes the mail from the queue; false if it has ended otherwise meanwhile. The order of the locks is
 * that of `enqueueMail` and `cancelMail`.
 */
export type OnMailEnded = (ref: MailRef, outcome: MailOutcome, take: (tx: Tx) => Promise<boolean>) => Promise<void>;

/** Returns what is wrong with a mail; undefined for a valid one. Whether user groups exist is checked when it is sent. */
export function findMailFault(mail: MailContent & Place): string | undefined {
  const addresses = [...mail.to, ...mail.cc];
  const groups = [...mail.toUserGroups, ...mail.ccUserGroups];
  if (addresses.length + groups.length > MAX_RECIPIENTS)
    return `The mail has ${addresses.length + groups.length} recipients; at most ${MAX_RECIPIENTS} are allowed.`;
  if (mail.to.length + mail.toUserGroups.length === 0) return "The mail has no recipient in 'to' or 'toUserGroups'.";
  const wrong = addresses.find((address) => !isAddress(address));
  if (wrong !== undefined) return `'${wrong.slice(0, 64)}' is not an e-mail address.`;
  const unknown = groups.find((reference) => referred(reference, mail) === undefined);
  if (unknown !== undefined) return `'${unknown.slice(0, 64)}' is not the reference of a user group.`;
  if (mail.subject.length > MAX_SUBJECT)
    return `The subject has ${mail.subject.length} characters; at most ${MAX_SUBJECT} are allowed.`;
  if (/[\p{Cc}\u2028\u2029]/u.test(mail.subject)) return "The subject has a line break or another control character.";
  const size = Buffer.byteLength(mail.body);
  if (size > MAX_BODY_BYTES) return `The body has ${size} bytes; at most ${MAX_BODY_BYTES} are allowed.`;
  return undefined;
}
