/** Mails given to a real SMTP server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import {
  MAIL_USER,
  startMailServer,
  type MailServer,
  type MailServerOptions,
} from "../../../test/support/services/mail-server.ts";
import { allowPublicAddresses } from "../../platform/outgoing/reach.ts";
import { deliver, type DeliverOptions } from "./deliver.ts";
import { composeMessage, isHtml, type Message } from "./message.ts";
import type { SmtpServer } from "./smtp-server.ts";

const started: MailServer[] = [];
let authorities: string[];
before(() => void (authorities = getCACertificates("default")));
after(async () => {
  setDefaultCACertificates(authorities);
  for (const server of started) await server.stop();
});

/** Starts a server whose certificate this process trusts. */
async function trustedServer(options: MailServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  started.push(server);
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(server.certificate, "utf8")]);
  return server;
}

const at = ({ port }: Pick<MailServer, "port">, changes: Partial<SmtpServer> = {}): SmtpServer => ({
  host: "localhost",
  port,
  security: "starttls",
  login: MAIL_USER,
  ...changes,
});

const none = { addresses: [], groups: [] };
const message = (to: readonly string[], changes: Partial<Message> = {}): Message => ({
  id: "m1",
  at: Date.UTC(2030, 0, 2),
  from: "railhead@example.com",
  to: { addresses: to, groups: [] },
  cc: none,
  subject: "Build 7",
  body: "It is done.",
  ...changes,
});

const options = (changes: Partial<DeliverOptions> = {}): DeliverOptions => ({
  mayReach: () => true,
  signal: AbortSignal.timeout(20_000),
  beforeData: async () => {},
  ...changes,
});

test("a mail over STARTTLS, over TLS and without TLS", async () => {
  for (const security of ["starttls", "tls", "none"] as const) {
    const server = await trustedServer({ security });
    const login = security === "none" ? null : MAIL_USER;
    const cc = { addresses: ["eve@example.com", "ADA@example.com"], groups: [] };
    const delivery = await deliver(at(server, { security, login }), message(["ada@example.com"], { cc }), options());
    assert.deepEqual(delivery, { kind: "sent" }, security);
    const [mail] = server.received;
    assert.deepEqual([mail?.from, mail?.to], ["railhead@example.com", ["ada@example.com", "eve@example.com"]]);
    for (const line of [
      "From: railhead@example.com",
      "To: ada@example.com",
      "Cc: eve@example.com, ADA@example.com",
      "Subject: Build 7",
      "Message-ID: <m1@example.com>",
      "Date: Wed, 02 Jan 2030 00:00:00 +0000",
      "Auto-Submitted: auto-generated",
      "Content-Type: text/plain; charset=utf-8",
    ])
      assert.ok(mail?.text.includes(`${line}\r\n`), `${line}\n${mail?.text}`);
    assert.match(mail?.text ?? "", /\r\n\r\nIt is done\.\r\n$/);
  }
});

test("lines with a dot, other scripts and long lines arrive unchanged", async () => {
  const server = await trustedServer();
  const body = `.\n..\n.x\n${"ä".repeat(1_200)}\n${"x".repeat(3_000)}`;
  assert.deepEqual(await deliver(at(server), message(["a@example.com"], { body }), options()), { kind: "sent" });
  const [head = "", encoded = ""] = (server.received[0]?.text ?? "").split("\r\n\r\n");
  assert.match(head, /Content-Transfer-Encoding: quoted-printable/);
  assert.equal(decodeQuotedPrintable(encoded), `${body}\n`);
});

const decodeQuotedPrintable = (text: string): string =>
  Buffer.from(
    text
      .replaceAll("\r\n", "\n")
      .replaceAll("=\n", "")
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");

test("members of a group get the mail, which shows only the group's name", async () => {
  const server = await trustedServer();
  const group = { name: 'On "call",\r\nBcc: x', addresses: ["c@example.com", "a@example.com"] };
  const to = { addresses: ["a@example.com"], groups: [group] };
  await deliver(at(server), message([], { to }), options());
  const [mail] = server.received;
  assert.deepEqual(mail?.to, ["a@example.com", "c@example.com"]);
  assert.ok(!mail?.text.includes("c@example.com"), mail?.text);
  assert.match(mail?.text ?? "", /^To: a@example\.com, "?On .*:;\r$/m);
  assert.doesNotMatch(mail?.text ?? "", /^Bcc:/m);
});

test("no value becomes a header of its own, whatever line breaks it has", async () => {
  const subject = "x\r\nBcc: eve@example.com\r\n\r\nfalse text\u2028y";
  const text = (await composeMessage(message(["a@example.com"], { subject }))).toString();
  const head = text.slice(0, text.indexOf("\r\n\r\n"));
  assert.doesNotMatch(head, /^(?:Bcc|false)/m);
});

test("a body is HTML if it begins with the tag of an HTML element", () => {
  for (const body of ["<!DOCTYPE html><html></html>", "\n <p class='x'>Hi</p>", "<H1>Hi</H1>", "<br/>x"])
    assert.equal(isHtml(body), true, body);
  for (const body of ["Hi <b>there</b>", "<ada@example.com> wrote", "<3", "< p>", "<pipeline>", ""])
    assert.equal(isHtml(body), false, body);
});

test("a refused recipient refuses the mail for all; nothing is sent", async () => {
  const server = await trustedServer();
  let asked = 0;
  const how = options({ beforeData: async () => void (asked += 1) });
  assert.deepEqual(await deliver(at(server), message(["a@example.com", "unknown@example.com"]), how), {
    kind: "refused",
    message: `localhost:${server.port} refused recipients, so the mail was sent to none: unknown@example.com (550 5.1.1 no such mailbox).`,
  });
  const busy = await deliver(at(server), message(["a@example.com", "busy@example.com"]), how);
  assert.equal(busy.kind, "delayed");
  const both = await deliver(at(server), message(["busy@example.com", "unknown@example.com"]), how);
  assert.equal(both.kind, "refused");
  assert.deepEqual([server.received.length, asked], [0, 0]);
});

test("a refused message, for now and for ever", async () => {
  const server = await trustedServer();
  const full = await deliver(at(server), message(["full@example.com"]), options());
  assert.deepEqual(full, {
    kind: "delayed",
    message: `localhost:${server.port} refused the mail: 452 4.3.1 no space left`,
  });
  const filter = await deliver(at(server), message(["filter@example.com"]), options());
  assert.deepEqual([filter.kind, server.received.length], ["refused", 0]);
  const large = await deliver(at(server), message(["a@example.com"], { body: "x".repeat(1024 * 1024) }), options());
  assert.equal(large.kind, "refused");
});

test("without a reply to the message the outcome is unknown", async () => {
  const server = await trustedServer();
  const end = new AbortController();
  const sending = deliver(at(server), message(["silent@example.com"]), options({ signal: end.signal }));
  await server.withheld;
  end.abort();
  assert.equal((await sending).kind, "unknown");
  assert.equal(server.received.length, 1);
});

test("a veto before the message ends the try, and the server accepts nothing", async () => {
  const server = await trustedServer();
  const beforeData = async (): Promise<void> => {
    throw new Error("cancelled meanwhile");
  };
  await assert.rejects(deliver(at(server), message(["a@example.com"]), options({ beforeData })), {
    message: "cancelled meanwhile",
  });
  // The server has closed the first connection when it serves a later one to its end.
  await deliver(at(server), message(["b@example.com"]), options());
  assert.deepEqual(
    server.received.map(({ to }) => to),
    [["b@example.com"]],
  );
});

test("a wrong password is refused and not shown", async () => {
  const server = await trustedServer();
  const delivery = await deliver(
    at(server, { login: { username: "x", password: "5.7.8" } }),
    message(["a@example.com"]),
    options(),
  );
  assert.deepEqual(delivery, {
    kind: "refused",
    message: `localhost:${server.port} refused the login: 535 *** bad credentials`,
  });
});

test("a certificate that is not trusted, or is for another host, is refused before anything is sent", async () => {
  const unknown = await startMailServer();
  started.push(unknown);
  const trusted = await trustedServer();
  const other = { ...at(trusted), host: "mail.example.com" };
  for (const [server, code] of [
    [at(unknown), "DEPTH_ZERO_SELF_SIGNED_CERT"],
    [other, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ] as const)
    assert.deepEqual(await deliver(server, message(["a@example.com"]), options({ lookup: loopback as never })), {
      kind: "refused",
      message: `The certificate of ${server.host}:${server.port} is not trusted: ${code}.`,
    });
  assert.equal(trusted.received.length + unknown.received.length, 0);
});

const loopback = (_name: string, _options: object, answer: (error: null, found: object[]) => void): void =>
  answer(null, [{ address: "127.0.0.1", family: 4 }]);

test("TLS that the server does not offer is not left out", async () => {
  const plain = await startMailServer({ security: "none" });
  started.push(plain);
  for (const security of ["starttls", "tls"] as const) {
    const delivery = await deliver(at(plain, { security, login: null }), message(["a@example.com"]), options());
    assert.equal(delivery.kind, "refused", JSON.stringify(delivery));
  }
  assert.equal(plain.received.length, 0);
});

test("private addresses are not connected to, by name or number", async () => {
  const server = await trustedServer();
  const mayReach = allowPublicAddresses([]);
  for (const host of ["localhost", "127.0.0.1", "127.1", "0x7f000001", "::1"]) {
    const delivery = await deliver(at(server, { host }), message(["a@example.com"]), options({ mayReach }));
    assert.equal(delivery.kind, "refused");
    assert.match("message" in delivery ? delivery.message : "", /its address is not public/);
  }
  assert.equal(server.connections(), 0);
  const allowed = options({ mayReach: allowPublicAddresses([`localhost:${server.port}`]) });
  assert.equal((await deliver(at(server), message(["a@example.com"]), allowed)).kind, "sent");
});

test("a server that refuses the connection, closes it, or says nothing, delays the mail", async (context) => {
  const free = await listen(() => {});
  await free.close();
  const attempt = async (port: number, signal = AbortSignal.timeout(20_000)): Promise<unknown> =>
    deliver(at({ port }), message(["a@example.com"]), options({ signal }));
  const start = async (serve: (socket: Socket) => void): Promise<number> => {
    const server = await listen(serve);
    context.after(server.close);
    return server.port;
  };
  assert.deepEqual(await attempt(free.port), {
    kind: "delayed",
    message: `localhost:${free.port} refused the connection.`,
  });
  const closing = await start((socket) => socket.end());
  assert.deepEqual(await attempt(closing), {
    kind: "delayed",
    message: `localhost:${closing} closed the connection without an answer.`,
  });
  const end = new AbortController();
  const silent = await start(() => end.abort());
  assert.deepEqual(await attempt(silent, end.signal), {
    kind: "delayed",
    message: `localhost:${silent} did not answer in time.`,
  });
  const busy = await start((socket) => socket.end("421 4.3.2 restarting\r\n"));
  assert.deepEqual(await attempt(busy), {
    kind: "delayed",
    message: `localhost:${busy} refused the connection: 421 4.3.2 restarting`,
  });
  const other = await start((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  assert.deepEqual(await attempt(other), { kind: "refused", message: `localhost:${other} does not speak SMTP.` });
});

async function listen(serve: (socket: Socket) => void): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
