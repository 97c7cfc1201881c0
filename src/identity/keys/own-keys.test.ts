/** A person with only a session makes, lists, rotates and deletes keys and tokens of their own. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { createSession, type SessionHeaders } from "../../../test/support/sessions.ts";

let platform: TestPlatform;
let headers: SessionHeaders;

before(async () => {
  platform = await startTestPlatform();
  // A user without permissions.
  await platform.addUser("_account_viewer");
  await platform.db.query(
    "delete from role_assignments where principal_id = (select id from users order by id desc limit 1)",
  );
  const [row] = await platform.db.query<{ email: string }>("select email from users order by id desc limit 1");
  ({ headers } = await createSession(platform, row?.email));
  platform.clock.advance(1_000);
});
after(() => platform?.stop());

const send = (method: string, path: string, body?: object): Promise<Answer> =>
  platform.send(method, `/ng/api/${path}`, {
    ...{ apiKey: null, headers: { ...headers } },
    ...(body && { contentType: JSON_TYPE, body: JSON.stringify(body) }),
  });

async function data(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body.data;
}

const works = async (apiKey: string): Promise<boolean> =>
  (await platform.send("GET", "/ng/api/user/currentUser", { apiKey })).status === 200;

test("a session suffices for one's own keys and tokens", async () => {
  const owner = { apiKeyType: "USER" };
  await data(send("POST", "apikey", { ...owner, identifier: "mine", name: "Mine" }));
  const end = new Date(platform.clock.now() + 30 * 86_400_000);
  const [year, month, day] = end.toISOString().slice(0, 10).split("-");
  const fields = { ...owner, apiKeyIdentifier: "mine", identifier: "laptop", name: "Laptop" };
  const first = await data(send("POST", "token", { ...fields, validTo: `${month}/${day}/${year}` }));
  assert.ok(await works(first));
  const query = "apiKeyType=USER&apiKeyIdentifier=mine";
  const { content } = await data(send("GET", `token/aggregate?${query}`));
  const [{ token }] = content;
  assert.deepEqual(
    [token.identifier, token.validTo, token.valid],
    ["laptop", Date.parse(`${year}-${month}-${day}T23:59:59.999Z`), true],
  );
  assert.ok(!JSON.stringify(content).includes(first));
  const second = await data(send("POST", `token/rotate/laptop?${query}`));
  assert.deepEqual([await works(first), await works(second)], [false, true]);
  assert.equal((await send("PUT", "token/laptop", { ...fields, name: "Old laptop" })).status, 200);
  assert.equal(await data(send("DELETE", `token/laptop?${query}`)), true);
  assert.equal(await works(second), false);
  const keys = await data(send("GET", "apikey?apiKeyType=USER"));
  assert.ok(keys.some(({ identifier }: { identifier: string }) => identifier === "mine"));
  assert.equal(await data(send("DELETE", "apikey/mine?apiKeyType=USER")), true);
});
