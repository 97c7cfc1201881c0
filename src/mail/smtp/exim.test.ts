/** Mails given to Debian's Exim, which shares no code with the client. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { eximIsMissing, startExim, type Exim } from "../../../test/support/services/exim.ts";
import { MAIL_USER } from "../../../test/support/services/mail-server.ts";
import { deliver } from "./deliver.ts";
import type { Delivery } from "./delivery.ts";
import type { Message } from "./message.ts";
import type { SmtpServer } from "./smtp-server.ts";

const skip = (await eximIsMissing()) ?? false;
let exim: Exim;
let authorities: string[];
before(async () => {
  if (skip) return;
  exim = await startExim();
  authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(exim.certificate, "utf8")]);
});
after(async () => {
  if (skip) return;
  setDefaultCACertificates(authorities);
  await exim.stop();
});

const none = { addresses: [], groups: [] };
const send = (
  to: readonly string[],
  { message = {}, server = {} }: { readonly message?: Partial<Message>; readonly server?: Partial<SmtpServer> } = {},
): Promise<Delivery> =>
  deliver(
    { host: "localhost", port: exim.port, security: "starttls", login: MAIL_USER, ...server },
    {
      id: "m1",
      at: 0,
      from: "ci@example.com",
      to: { addresses: to, groups: [] },
      cc: none,
      subject: "Größe 7",
      body: ".\n..\nDone: ä",
      ...message,
    },
    { mayReach: () => true, signal: AbortSignal.timeout(60_000), beforeData: async () => {} },
  );

test("Exim gets mails with their recipients, headers and text", { skip }, async () => {
  assert.deepEqual(await send(["ada@example.com", "eve@example.com"]), { kind: "sent" });
  const group = { name: "Release managers", addresses: ["bob@example.com"] };
  const to = { addresses: [], groups: [group] };
  assert.deepEqual(await send([], { message: { id: "m2", to } }), { kind: "sent" });
  const mails = await exim.mails();
  assert.equal(mails.length, 2);
  const plain = mails.find(({ head }) => head.includes("<m1@example.com>"));
  assert.match(plain?.head ?? "", /\n2\nada@example\.com\neve@example\.com\n/);
  assert.match(plain?.head ?? "", / Subject: =\?UTF-8\?Q\?Gr=C3=B6=C3=9Fe_7\?=\n/);
  assert.match(plain?.body ?? "", /\n\.\n\.\.\nDone: =C3=A4\n/);
  const grouped = mails.find(({ head }) => head.includes("<m2@example.com>"));
  assert.match(grouped?.head ?? "", /\n1\nbob@example\.com\n[^]* To: Release managers:;\n/);
});

test("what Exim refuses is told with its words, and nothing is sent", { skip }, async () => {
  const earlier = (await exim.mails()).length;
  const target = `localhost:${exim.port}`;
  const refused = `${target} refused recipients, so the mail was sent to none:`;
  assert.deepEqual(await send(["ada@example.com", "unknown@example.com"]), {
    kind: "refused",
    message: `${refused} unknown@example.com (550 no such mailbox).`,
  });
  assert.deepEqual(await send(["ada@example.com", "busy@example.com"]), {
    kind: "delayed",
    message: `${refused} busy@example.com (451 try again later).`,
  });
  const login = { ...MAIL_USER, password: "wrong" };
  assert.deepEqual(await send(["ada@example.com"], { server: { login } }), {
    kind: "refused",
    message: `${target} refused the login: 535 Incorrect authentication data`,
  });
  assert.equal((await send(["ada@example.com"], { server: { login: null } })).kind, "refused");
  assert.equal((await exim.mails()).length, earlier);
});
