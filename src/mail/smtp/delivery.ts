/** What a try to send a mail led to, and how errors of the connection are understood. */
import { toUnreached, Unreached } from "../../platform/outgoing/unreached.ts";
import type { SmtpServer } from "./smtp-server.ts";

/** `message` is for the user who sends the mail. */
export type Delivery =
  /** The server has accepted the mail for all recipients. */
  | { readonly kind: "sent" }
  /** Nothing was accepted, and another try may succeed. */
  | { readonly kind: "delayed"; readonly message: string }
  /** Nothing was accepted, and another try would fail as well. */
  | { readonly kind: "refused"; readonly message: string }
  /** The message was sent, and the reply is missing. */
  | { readonly kind: "unknown"; readonly message: string };

export const UNKNOWN =
  "The connection ended after the mail was sent and before the mail server confirmed it. The mail may have been delivered, so it is not sent again.";

/** An error of Nodemailer's connection. */
type SmtpError = Error & {
  readonly code?: string;
  /** The code of the system error that was replaced by `code`. */
  readonly originalCode?: string;
  readonly command?: string;
  /** The server's reply. */
  readonly response?: string;
  readonly responseCode?: number;
  readonly recipient?: string;
  readonly rejectedErrors?: readonly SmtpError[];
};

/** Some recipients were refused, so the mail is sent to none. */
class RecipientsRefused extends Error {
  readonly rejectedErrors: readonly SmtpError[];

  constructor(errors: readonly SmtpError[]) {
    super("recipients were refused");
    this.rejectedErrors = errors;
  }
}

export const refusedRecipients = (errors: readonly unknown[]): Error => new RecipientsRefused(errors as SmtpError[]);

type Facts = { readonly server: SmtpServer; readonly hasBegun: boolean; readonly signal: AbortSignal };

/** @param error of the connection. `hasBegun`: bytes of the message may have been sent. */
export function deliveryOf(error: unknown, { server, hasBegun, signal }: Facts): Delivery {
  const target = `${server.host}:${server.port}`;
  if (error instanceof Unreached) return { kind: isFinal(error) ? "refused" : "delayed", message: error.message };
  const smtp = error as SmtpError;
  const rejected = smtp.rejectedErrors?.filter(({ responseCode }) => responseCode !== undefined) ?? [];
  const [first] = rejected;
  if (first) {
    const list = rejected.map(({ recipient = "", response = "" }) => `${recipient} (${shown(response, server)})`);
    const message = `${target} refused recipients, so the mail was sent to none: ${limited(list)}.`;
    return { kind: rejected.every(isTemporary) ? "delayed" : "refused", message };
  }
  if (smtp.responseCode !== undefined) {
    const kind = isTemporary(smtp) ? "delayed" : "refused";
    return { kind, message: `${target} refused ${commandOf(smtp)}: ${shown(smtp.response ?? "", server)}` };
  }
  if (hasBegun) return { kind: "unknown", message: UNKNOWN };
  if (smtp.code === "EMESSAGE") return { kind: "refused", message: `The mail is larger than ${target} accepts.` };
  if (smtp.code === "EAUTH")
    return { kind: "refused", message: `${target} offers no way to log in that Railhead knows.` };
  if (smtp.code === "EPROTOCOL") return { kind: "refused", message: `${target} does not speak SMTP.` };
  const code = smtp.originalCode ?? smtp.code ?? "";
  if (NO_TRUST.test(code)) return { kind: "refused", message: `The certificate of ${target} is not trusted: ${code}.` };
  if (NO_TLS.test(code))
    return { kind: "refused", message: `${target} does not speak TLS as the SMTP configuration asks for it.` };
  const known = Object.assign(new Error(smtp.message), { code: CLOSED.has(code) ? "ECONNRESET" : code });
  return { kind: "delayed", message: toUnreached(known, target, signal).message };
}

/** Codes of certificates. They stay wrong until a person changes something, whereas a lost connection does not. */
const NO_TRUST = /CERT|SIGNATURE|ISSUER|CHAIN|ALTNAME/;
/** The answer to the first TLS message was something else. */
const NO_TLS = /^(?:ERR_SSL_|EPROTO$)/;
/** Nodemailer's codes for a connection that the server closed. */
const CLOSED = new Set(["ECONNECTION", "ETLS"]);

const isFinal = ({ reason }: Unreached): boolean => reason === "Address not allowed";
const isTemporary = ({ responseCode = 0 }: SmtpError): boolean => responseCode >= 400 && responseCode < 500;

function commandOf({ command = "" }: SmtpError): string {
  if (command.startsWith("AUTH")) return "the login";
  switch (command) {
    case "MAIL FROM":
      return "the sender";
    case "DATA":
      return "the mail";
    case "STARTTLS":
      return "TLS";
    default:
      return "the connection";
  }
}

const MAX_REPLY = 300;
const MAX_LISTED = 5;

/** A reply as part of a message: one line, shortened, without the password should the server repeat it. */
function shown(reply: string, { login }: SmtpServer): string {
  const line = reply.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const safe = login ? line.replaceAll(login.password, "***") : line;
  return safe.length > MAX_REPLY ? `${safe.slice(0, MAX_REPLY)}…` : safe;
}

const limited = (list: readonly string[]): string =>
  [...list.slice(0, MAX_LISTED), ...(list.length > MAX_LISTED ? [`and ${list.length - MAX_LISTED} more`] : [])].join(
    "; ",
  );
