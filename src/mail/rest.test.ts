/** The account's SMTP configuration over REST, with a real mail server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { JSON_TYPE } from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { MAIL_USER, startMailServer, type MailServer } from "../../test/support/services/mail-server.ts";

const OTHER_ID = "A".repeat(22);
const PATH = "/ng/api/smtpConfig";
let platform: TestPlatform;
let server: MailServer;
let authorities: string[];
before(async () => {
  server = await startMailServer();
  authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(server.certificate, "utf8")]);
  platform = await startTestPlatform({ allowPrivateAddresses: [`localhost:${server.port}`] });
});
after(async () => {
  setDefaultCACertificates(authorities);
  await platform?.stop();
  await server?.stop();
});

const value = (changes: object = {}): object => ({
  host: "localhost",
  port: server.port,
  fromAddress: "ci@example.com",
  startTLS: true,
  ...MAIL_USER,
  ...changes,
});
const send = (method: "POST" | "PUT", body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  platform.send(method, PATH, { contentType: JSON_TYPE, body: JSON.stringify(body), headers });
const read = (): Promise<Answer> => platform.send("GET", PATH);
const remove = async (): Promise<void> => {
  const { body } = await read();
  if (body.data) await platform.send("DELETE", `${PATH}/${body.data.uuid}`);
};
const testMail = (query: string): Promise<Answer> =>
  platform.send("POST", `/gateway${PATH}/validate-connectivity?accountId=${platform.accountId}&${query}`);
const passwords = async (): Promise<readonly unknown[]> =>
  platform.db.query("select encode(password_sealed, 'hex') as sealed, s.* from smtp_configs s");

test("a configuration is created, read, changed and deleted; its password is never answered", async () => {
  assert.equal((await read()).body.data, null);
  const created = await send("POST", { name: "Mail server", value: value() });
  assert.equal(created.status, 200, created.text);
  const { uuid } = created.body.data;
  const expected = {
    uuid,
    accountId: platform.accountId,
    name: "Mail server",
    value: {
      host: "localhost",
      port: server.port,
      fromAddress: "ci@example.com",
      useSSL: false,
      startTLS: true,
      username: MAIL_USER.username,
      password: null,
    },
  };
  assert.deepEqual(created.body.data, expected);
  assert.deepEqual((await read()).body.data, expected);
  assert.equal(created.headers.get("etag"), '"1"');
  const again = await send("POST", { name: "Other", value: value() });
  assert.deepEqual([again.status, again.body.code], [400, "DUPLICATE_FIELD"]);
  const changed = await send("PUT", { ...expected, name: "Ours", accountId: undefined }, { "if-match": '"1"' });
  assert.deepEqual([changed.status, changed.body.data.name, changed.headers.get("etag")], [200, "Ours", '"2"']);
  const stale = await send("PUT", { ...expected, accountId: undefined }, { "if-match": '"1"' });
  assert.deepEqual([stale.status, stale.body.code], [402, "OPTIMISTIC_LOCKING_EXCEPTION"]);
  const unknown = await send("PUT", { ...expected, uuid: OTHER_ID, accountId: undefined });
  assert.deepEqual([unknown.status, unknown.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  assert.equal((await platform.send("DELETE", `${PATH}/nonsense`)).status, 404);
  assert.deepEqual((await platform.send("DELETE", `${PATH}/${uuid}`)).body.data, true);
  assert.equal((await read()).body.data, null);
  assert.equal((await send("PUT", { name: "Ours", value: value() })).status, 404);
  const entries = await platform.db.query<{ operation: string }>(
    "select operation from audit_entries where operation like 'smtp-config.%' and outcome = 'success' order by id",
  );
  assert.deepEqual(
    entries.map(({ operation }) => operation),
    ["smtp-config.create", "smtp-config.update", "smtp-config.delete"],
  );
});

test("the password is stored sealed, as a text or as a list, and kept by a change without one", async () => {
  const list = [...MAIL_USER.password];
  assert.equal((await send("POST", { name: "Mail server", value: value({ password: list }) })).status, 200);
  assert.ok(!JSON.stringify(await passwords()).includes(MAIL_USER.password));
  const dump = await platform.db.query("select * from audit_entries");
  assert.ok(!JSON.stringify(dump).includes(MAIL_USER.password));
  const before = await passwords();
  const { status } = await send("PUT", { name: "Mail server", value: value({ password: null, fromAddress: "" }) });
  assert.equal(status, 200);
  const [kept, former] = [await passwords(), before].map((rows) => (rows[0] as { sealed: string }).sealed);
  assert.equal(kept, former);
  assert.deepEqual((await testMail("to=ada@example.com")).body.data, { valid: true, errorMessage: null });
  await remove();
});

test("a stored password is not sent to another server", async () => {
  await send("POST", { name: "Mail server", value: value() });
  const earlier = await passwords();
  for (const change of [{ host: "127.0.0.1" }, { port: 25 }, { useSSL: true, startTLS: false }, { username: "x@y" }]) {
    const { status, body } = await send("PUT", {
      name: "Mail server",
      value: value({ password: undefined, ...change }),
    });
    assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], JSON.stringify(change));
    assert.match(body.message, /Send the password, too/);
  }
  assert.deepEqual(await passwords(), earlier);
  const without = await send("PUT", { name: "Mail server", value: value({ username: null, password: null }) });
  assert.equal(without.status, 200);
  assert.equal(((await passwords())[0] as { sealed: unknown }).sealed, null);
  assert.equal((await send("PUT", { name: "Mail server", value: value({ password: "" }) })).status, 400);
  await remove();
});

test("wrong values are refused with their path", async () => {
  for (const [change, message] of [
    [{ host: "" }, /value\.host/],
    [{ host: "mail.example.com:25" }, /value\.host.*without a port/],
    [{ host: "mail\r\nx" }, /value\.host/],
    [{ port: 0 }, /value\.port/],
    [{ port: 65_536 }, /value\.port/],
    [{ port: "587" }, /value\.port/],
    [{ fromAddress: "CI <ci@example.com>" }, /value\.fromAddress.*without a display name/],
    [{ fromAddress: "ci@example.com\nBcc: x@y" }, /value\.fromAddress/],
    [{ fromAddress: "", username: "ci" }, /value\.fromAddress.*is needed/],
    [{ useSSL: true }, /value\.startTLS.*together with useSSL/],
    [{ startTLS: false }, /value\.username.*needs useSSL or startTLS/],
    [{ username: "" }, /value\.username.*is needed with a password/],
    [{ username: "x\ny" }, /value\.username/],
    [{ password: "x\r\ny" }, /value\.password/],
    [{ password: 7 }, /value\.password/],
  ] as const) {
    const { status, body } = await send("POST", { name: "Mail server", value: value(change) });
    assert.equal(status, 400, JSON.stringify(change));
    assert.match(body.message, message);
  }
  assert.equal((await send("POST", { name: "a\nb", value: value() })).status, 400);
  const lacking = await send("POST", { name: "Mail server", value: value({ password: undefined }) });
  assert.match(lacking.body.message, /Send the password, too/);
  assert.deepEqual(await passwords(), []);
});

test("a test mail reaches the mail server; a failure is an answer", async () => {
  const none = await testMail("to=ada@example.com");
  assert.deepEqual([none.status, none.body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
  const created = await send("POST", { name: "Mail server", value: value() });
  const { uuid } = created.body.data;
  const already = server.received.length;
  const sent = await testMail(`identifier=${uuid}&to=ada@example.com,%20eve@example.com&subject=Hello&body=%3Cp%3EHi`);
  assert.deepEqual(sent.body.data, { valid: true, errorMessage: null });
  const [mail] = server.received.slice(already);
  assert.deepEqual([mail?.from, mail?.to], ["ci@example.com", ["ada@example.com", "eve@example.com"]]);
  assert.match(mail?.text ?? "", /Subject: Hello\r\n[^]*Content-Type: text\/html/);
  const refused = await testMail("to=unknown@example.com");
  assert.equal(refused.body.data.valid, false);
  assert.match(refused.body.data.errorMessage, /550 5\.1\.1 no such mailbox/);
  for (const query of ["", "to=", "to=ada", "to=a@b%0d%0ac", "to=ada@example.com&subject=a%0ab"]) {
    const { status, body } = await testMail(query);
    assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"], query);
  }
  assert.equal((await testMail(`identifier=${OTHER_ID}&to=ada@example.com`)).status, 404);
  await remove();
});

test("the server connects to private addresses only if the operator allows it", async () => {
  await send("POST", { name: "Mail server", value: value({ host: "127.0.0.1" }) });
  const { body } = await testMail("to=ada@example.com");
  assert.equal(body.data.valid, false);
  assert.match(body.data.errorMessage, /its address is not public; allow it with RAILHEAD_ALLOW_PRIVATE_ADDRESSES/);
  await remove();
});

test("changing needs the permission to edit settings, reading the one to view them", async () => {
  await send("POST", { name: "Mail server", value: value() });
  const apiKey = await platform.addUser("_account_viewer");
  const { status, body } = await platform.send("GET", PATH, { apiKey });
  assert.equal(status, 200);
  for (const [method, path] of [
    ["POST", PATH],
    ["PUT", PATH],
    ["DELETE", `${PATH}/${body.data.uuid}`],
    ["POST", `${PATH}/validate-connectivity?accountId=${platform.accountId}&to=ada@example.com`],
  ] as const) {
    const config = JSON.stringify({ name: "Mail server", value: value() });
    const refused = await platform.send(method, path, { apiKey, contentType: JSON_TYPE, body: config });
    assert.equal(refused.status, 403, refused.text);
  }
  const other = await platform.addAccount();
  const foreign = await platform.send("GET", `${PATH}?accountIdentifier=${other.accountId}`, { apiKey: other.apiKey });
  assert.equal(foreign.body.data, null);
  await remove();
});
