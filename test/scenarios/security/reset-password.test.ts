/** Signing in to a server process, and `railhead admin reset-password` on its machine. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { fromWire } from "../../../src/core/ids.ts";
import { runningConnection } from "../../../src/platform/db/embedded/running.ts";
import { pretendBrowser, type PretendBrowser } from "../../support/clients/browser.ts";
import { runProgram } from "../../support/processes/program.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";
import type { BootstrapFacts } from "../../../src/platform/config/bootstrap.ts";

const NO_DELEGATE = { RAILHEAD_LOCAL_DELEGATE: "off" };
const CHOSEN = "plum-lantern-orbit-42";
let folder: ServerFolder;
let server: ServerProcess;
let facts: BootstrapFacts;
before(async () => {
  folder = await createServerFolder();
  server = await startServer(folder, NO_DELEGATE);
  facts = await readFacts(folder);
});
after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
});

const railhead = (...args: readonly string[]) =>
  runProgram({ args, env: { RAILHEAD_DATA_DIR: folder.dataDir }, cwd: folder.path });

/** A browser without cookies of this server. */
function browserOf(): PretendBrowser {
  const { url } = server;
  return pretendBrowser({
    url,
    send: async (method, path, { body, contentType, headers } = {}) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...(contentType === undefined ? {} : { "content-type": contentType }), ...headers },
        ...(typeof body === "string" ? { body } : {}),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
  });
}
const projects = async (browser: PretendBrowser): Promise<number> =>
  (await browser.send("GET", `/ng/api/organizations?accountIdentifier=${facts.accountId}`)).status;

let browser: PretendBrowser;

test("the one-time password of the first start gives no access until it is changed", async () => {
  browser = browserOf();
  const answer = await browser.signIn(facts.adminEmail, facts.adminPassword);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.data.mustChangePassword, true);
  assert.equal(await projects(browser), 403);
  const change = { currentPassword: facts.adminPassword, newPassword: CHOSEN };
  assert.equal((await browser.send("POST", "/auth/password", change)).status, 200);
  assert.equal(await projects(browser), 200);
});

test("a reset while the server runs creates a one-time password and ends the user's sessions", async () => {
  const { code, stdout, stderr } = await railhead("admin", "reset-password");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^[\w-]{20}\n$/);
  assert.match(stderr, /^New one-time password of admin@railhead\.local; 1 session has ended\./);
  await until(
    () => projects(browser),
    (status) => status === 401,
  );
  const again = browserOf();
  assert.equal((await again.signIn(facts.adminEmail, CHOSEN)).status, 401);
  const answer = await again.signIn(facts.adminEmail, stdout.trim());
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.data.mustChangePassword, true);
  const trail = await railhead("audit", "export");
  assert.match(trail.stdout, /"action":"RESET"/);
  assert.ok(!trail.stdout.includes(stdout.trim()));
});

test("without an address the reset is for the administrator of the first start, not for the current owner of the address", async () => {
  const send = (method: string, path: string, body?: object) =>
    fetch(`${server.url}${path}?accountIdentifier=${facts.accountId}`, {
      method,
      headers: { "x-api-key": facts.apiKey, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const scim = `/ng/api/scim/account/${facts.accountId}/Users/${facts.adminUserId}`;
  const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
  const rename = async (value: string): Promise<void> => {
    const Operations = [{ op: "replace", path: "userName", value }];
    const emails = { op: "replace", path: "emails", value: [{ value, primary: true }] };
    const answer = await send("PATCH", scim, { schemas, Operations: [...Operations, emails] });
    assert.equal(answer.status, 200, await answer.text());
  };
  await rename("maria@example.com");
  const { status } = await send("POST", "/ng/api/user/users", { emails: [facts.adminEmail] });
  assert.equal(status, 200);
  const reset = await railhead("admin", "reset-password");
  assert.match(reset.stderr, /^New one-time password of maria@example\.com;/);
  const other = await send("POST", "/ng/api/user/batch", { emails: [facts.adminEmail] });
  const { content } = ((await other.json()) as { data: { content: { uuid: string }[] } }).data;
  assert.equal((await send("DELETE", `/ng/api/user/${content[0]?.uuid}`)).status, 200);
  await rename(facts.adminEmail);
});

test("the reset names linked identities, and unlinks them on request", async () => {
  const connection = await runningConnection(folder.dataDir);
  assert.ok(connection);
  const database = new Client(connection);
  await database.connect();
  await database.query(
    `insert into user_identities (account_id, id, user_id, issuer, subject, linked_at)
     select account_id, gen_random_uuid(), id, 'https://login.example.com', 'someone-else', 0 from users where id = $1`,
    [fromWire(facts.adminUserId)],
  );
  await database.end();
  const first = await railhead("admin", "reset-password");
  assert.match(first.stdout, /^[\w-]{20}\n$/);
  const line = `  "https://login.example.com" "someone-else", linked 1970-01-01T00:00:00.000Z\n`;
  assert.ok(
    first.stderr.startsWith(
      `This person can still log in by single sign-on with these linked identities. Pass --unlink to remove them:\n${line}`,
    ),
  );
  const second = await railhead("admin", "reset-password", "--unlink");
  assert.match(second.stdout, /^[\w-]{20}\n$/);
  assert.ok(second.stderr.startsWith(`These identities were unlinked from this person:\n${line}`), second.stderr);
  assert.match((await railhead("admin", "reset-password")).stderr, /^New one-time password/);
});

test("a reset while the server does not run is in effect at its next start; an unknown address is refused by name", async () => {
  await server.end("SIGTERM");
  const unknown = await railhead("admin", "reset-password", "--email", "unknown@example.com");
  assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
  assert.match(unknown.stderr, /No active user has the e-mail address 'unknown@example\.com'/);
  const { code, stdout } = await railhead("admin", "reset-password", "--email", facts.adminEmail.toUpperCase());
  assert.equal(code, 0);
  server = await startServer(folder, NO_DELEGATE);
  assert.equal((await browserOf().signIn(facts.adminEmail, stdout.trim())).status, 200);
});
