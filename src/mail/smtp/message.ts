/** The text of a mail (RFC 5322, MIME) and its envelope. */
import MailComposer from "nodemailer/lib/mail-composer";
import { uniqueAddresses } from "../../core/mail-address.ts";

/** Addresses that the mail shows, and user groups of which it shows only the name. */
export type Recipients = { readonly addresses: readonly string[]; readonly groups: readonly RecipientGroup[] };
export type RecipientGroup = { readonly name: string; readonly addresses: readonly string[] };

export type Message = {
  /** Unique, and the same at every try, so that a mailbox can recognize a duplicate. */
  readonly id: string;
  readonly at: number;
  readonly from: string;
  readonly to: Recipients;
  readonly cc: Recipients;
  readonly subject: string;
  readonly body: string;
};

const HTML_START =
  /^\s*<(?:!doctype\s+html|(?:html|head|body|div|p|h[1-6]|table|span|b|i|strong|em|a|ul|ol|br|hr|img|center|font|pre|style|section)\b)[^<>]*>/i;

/** Whether a body is sent as HTML: it begins with the tag of an HTML element. */
export const isHtml = (body: string): boolean => HTML_START.test(body);

/** The recipients of the envelope, each once. */
export const envelopeRecipients = ({ to, cc }: Pick<Message, "to" | "cc">): readonly string[] =>
  uniqueAddresses(
    [to, cc].flatMap(({ addresses, groups }) => [...addresses, ...groups.flatMap((one) => one.addresses)]),
  );

/** Composes the text that follows the command DATA. */
export function composeMessage(message: Message): Promise<Buffer> {
  const { id, at, from, to, cc, subject, body } = message;
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const composer = new MailComposer({
    from,
    to: headerOf(to),
    cc: headerOf(cc),
    subject,
    [isHtml(body) ? "html" : "text"]: body,
    messageId: `<${id}@${domain}>`,
    date: new Date(at),
    // Tells mailboxes not to answer, for example that a person is absent (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/**
 * The value of `To` or `Cc`. A user group is an empty group of RFC 5322 section 3.4: recipients see its name, and not
 * the addresses of its members.
 */
const headerOf = ({ addresses, groups }: Recipients): string[] => [
  ...addresses,
  ...groups.map(({ name }) => `"${name.replaceAll(/["\\\p{Cc}]/gu, " ")}":;`),
];
