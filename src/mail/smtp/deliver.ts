/**
 * One try to give a mail to the mail server. SMTP has no way to ask later whether a mail was accepted: after the message
 * was sent, only the server's reply tells. Until then the connection can be closed and the server has accepted nothing
 * (RFC 5321 section 4.1.1.4).
 */
import { Readable } from "node:stream";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { openConnection, type OpenConnectionOptions } from "../../platform/outgoing/open-connection.ts";
import { deliveryOf, refusedRecipients, type Delivery } from "./delivery.ts";
import { composeMessage, envelopeRecipients, type Message } from "./message.ts";
import type { SmtpServer } from "./smtp-server.ts";

export type DeliverOptions = OpenConnectionOptions & {
  /**
   * Called when the server has accepted all recipients, before the first byte of the message is sent. If it rejects,
   * nothing is sent, and `deliver` rejects with its error.
   */
  readonly beforeData: () => Promise<void>;
};

const GREETING_MS = 30_000;
/** Time without a byte from the server. A server may need a while to check a message. */
const SILENCE_MS = 60_000;
/** Largest reply of the server. */
const MAX_REPLY = 64 * 1024;

/** Nodemailer adds these fields to the envelope that it was given. A test notices when it does so no longer. */
type Envelope = { from: string; to: string[]; size: number; rejectedErrors?: readonly unknown[] };

/** Rejects only with the error of `beforeData`. A mail is accepted for all recipients or for none. */
export async function deliver(server: SmtpServer, message: Message, options: DeliverOptions): Promise<Delivery> {
  const raw = await composeMessage(message);
  const envelope: Envelope = { from: message.from, to: [...envelopeRecipients(message)], size: raw.length };
  let hasBegun = false;
  let vetoed: { readonly error: unknown } | undefined;
  // Nodemailer reads it when the server waits for the message, and ends the message only when it has ended.
  async function* content(): AsyncGenerator<Buffer> {
    if (envelope.rejectedErrors?.length) throw refusedRecipients(envelope.rejectedErrors);
    await options.beforeData().catch((error: unknown) => {
      vetoed = { error };
      throw error;
    });
    hasBegun = true;
    yield raw;
  }
  let connection: SMTPConnection | undefined;
  try {
    const socket = await openConnection(options, server);
    connection = new SMTPConnection(connectionOptions(server, socket));
    await converse(connection, server, { envelope, content });
    connection.quit();
    return { kind: "sent" };
  } catch (error) {
    connection?.close();
    if (vetoed) throw vetoed.error;
    return deliveryOf(error, { server, hasBegun, signal: options.signal });
  }
}

const connectionOptions = (
  { host, port, security }: SmtpServer,
  socket: NonNullable<ConstructorParameters<typeof SMTPConnection>[0]>["connection"],
): ConstructorParameters<typeof SMTPConnection>[0] => ({
  connection: socket,
  host,
  port,
  secure: security === "tls",
  requireTLS: security === "starttls",
  ignoreTLS: security === "none",
  tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" },
  connectionTimeout: GREETING_MS,
  greetingTimeout: GREETING_MS,
  socketTimeout: SILENCE_MS,
  socketCloseTimeout: 0,
  maxResponseSize: MAX_REPLY,
  logger: false,
});

type Sent = { readonly envelope: Envelope; readonly content: () => AsyncGenerator<Buffer> };

async function converse(connection: SMTPConnection, { login }: SmtpServer, { envelope, content }: Sent): Promise<void> {
  const broken = Promise.withResolvers<never>();
  // Every wait below races against it.
  broken.promise.catch(() => {});
  connection.on("error", broken.reject);
  const wait = (run: (done: (error?: Error | null) => void) => void): Promise<unknown> =>
    Promise.race([
      broken.promise,
      new Promise<void>((settle, reject) => run((error) => (error ? reject(error) : settle()))),
    ]);
  await wait((done) => connection.connect(done));
  if (login) await wait((done) => connection.login({ user: login.username, pass: login.password }, done));
  await wait((done) => connection.send(envelope, Readable.from(content()), done));
}
