/**
 * A real SMTP server for tests, on a free local port, with STARTTLS or TLS and with a user. What it answers depends on
 * the recipient's name, so that a test chooses it by the address.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { createCertificate } from "./token-server.ts";

export const MAIL_USER = { username: "railhead@example.com", password: "correct horse" } as const;

export type ReceivedMail = { readonly from: string; readonly to: readonly string[]; readonly text: string };

export type MailServer = {
  readonly port: number;
  /** The file of the certificate for localhost, which no program trusts. */
  readonly certificate: string;
  readonly received: readonly ReceivedMail[];
  /** The number of connections so far. */
  readonly connections: () => number;
  /** Resolves when a message was received whole whose answer is withheld (the recipient `silent@…`). */
  readonly withheld: Promise<void>;
  readonly stop: () => Promise<void>;
};

export type MailServerOptions = {
  readonly security?: "tls" | "starttls" | "none";
  /** `none`: clients may send mails without a login. */
  readonly login?: "required" | "none";
};

const refusal = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code });

/** Answers to recipients by the local part of their address. Others are accepted. */
const RECIPIENTS: Readonly<Record<string, Error>> = {
  unknown: refusal(550, "5.1.1 no such mailbox"),
  busy: refusal(450, "4.2.1 try again later"),
};

export async function startMailServer({
  security = "starttls",
  login = security === "none" ? "none" : "required",
}: MailServerOptions = {}): Promise<MailServer> {
  const files = await createCertificate();
  const received: ReceivedMail[] = [];
  const withheld = Promise.withResolvers<void>();
  let connections = 0;
  const server = new SMTPServer({
    secure: security === "tls",
    key: readFileSync(files.key),
    cert: readFileSync(files.certificate),
    hideSTARTTLS: security !== "starttls",
    disabledCommands: security === "starttls" ? [] : ["STARTTLS"],
    authOptional: login === "none",
    disableReverseLookup: true,
    size: 1024 * 1024,
    closeTimeout: 1,
    logger: false,
    onConnect: (_session, done) => {
      connections += 1;
      done();
    },
    onAuth: ({ username, password }, _session, done) => {
      if (username === MAIL_USER.username && password === MAIL_USER.password) done(null, { user: username });
      else done(refusal(535, "5.7.8 bad credentials"));
    },
    onRcptTo: ({ address }, _session, done) => done(RECIPIENTS[address.split("@", 1)[0] ?? ""]),
    onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.once("end", () => {
        const to = rcptTo.map(({ address }) => address);
        const names = new Set(to.map((address) => address.split("@", 1)[0]));
        if (names.has("full")) return done(refusal(452, "4.3.1 no space left"));
        if (names.has("filter")) return done(refusal(554, "5.7.1 looks like spam"));
        const text = Buffer.concat(chunks).toString("utf8");
        received.push({ from: mailFrom === false ? "" : mailFrom.address, to, text });
        if (names.has("silent")) return withheld.resolve();
        done();
      });
    },
  });
  server.on("error", () => {}); // the client closed the connection, as some tests want it to
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    certificate: files.certificate,
    received,
    connections: () => connections,
    withheld: withheld.promise,
    stop: async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await files.remove();
    },
  };
}
