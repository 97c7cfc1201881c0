/** Invitations: made, accepted once, revoked, and attempts to take another user over with one. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { pretendBrowser } from "../../../test/support/clients/browser.ts";
import { createDbInterceptor } from "../../../test/support/db-interceptor.ts";
import { JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { PASSWORD } from "../../../test/support/sessions.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

const CHOSEN = "plum-lantern-orbit-43";
const DAY_MS = 24 * 3_600_000;

let platform: TestPlatform;
let replica: TestPlatform;
const gate = createDbInterceptor();
before(async () => {
  platform = await startTestPlatform({ wrapDb: gate.wrapDb });
  replica = await platform.replica();
});
after(() => platform?.stop());

type Person = { readonly id: string; readonly email: string };

async function addPerson(name: string): Promise<Person> {
  const { body, text } = await platform.graphql(
    `mutation { createUser(input: { email: "${name}@example.com", name: "${name}" }) { user { id email } } }`,
  );
  return body.data?.createUser.user ?? assert.fail(text);
}

const post = (path: string, body?: object, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("POST", path, {
    ...(body && { contentType: JSON_TYPE, body: JSON.stringify(body) }),
    apiKey,
  });
const create = ({ id }: Pick<Person, "id">, body?: object, apiKey?: string): Promise<Answer> =>
  post(`/auth/users/${id}/invitation`, body, apiKey);
const revoke = ({ id }: Pick<Person, "id">, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("DELETE", `/auth/users/${id}/invitation`, { apiKey });

const tokenOf = (answer: Answer): string => {
  assert.equal(answer.status, 200, answer.text);
  return (
    new URLSearchParams(new URL(answer.body.data.link).hash.slice(1)).get("invitation") ?? assert.fail(answer.text)
  );
};
const invite = async (person: Person): Promise<string> => tokenOf(await create(person));

const check = (token: string): Promise<Answer> =>
  pretendBrowser(platform).send("POST", "/auth/login/invitation/check", { token });
const accept = (token: string, newPassword = CHOSEN, on = platform): Promise<Answer> =>
  pretendBrowser(on).send("POST", "/auth/login/invitation", { token, newPassword });

async function assertInvalid(token: string): Promise<void> {
  for (const answer of [await check(token), await accept(token)]) {
    assert.deepEqual([answer.status, answer.body.code], [401, "INVALID_CREDENTIAL"], answer.text);
    assert.equal(answer.headers.getSetCookie().length, 0);
  }
}

/** A user that may manage people and hold what users without a role hold. */
async function addManager(name: string): Promise<{ readonly id: string; readonly apiKey: string }> {
  const apiKey = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  const permissions = ["core_user_manage", "core_user_view"];
  await made(post("/authz/api/roles", { identifier: name, name, permissions }));
  await platform.db.query("delete from role_assignments where principal_id = $1", [row.id]);
  await assign(toWire(row.id), name);
  return { id: toWire(row.id), apiKey };
}

async function assign(identifier: string, role: string): Promise<void> {
  await made(
    post("/authz/api/roleassignments", {
      ...{ principal: { type: "USER", identifier }, roleIdentifier: role },
      resourceGroupIdentifier: "_all_resources_including_child_scopes",
    }),
  );
  platform.clock.advance(1_000);
}

const entries = async (userId: string): Promise<readonly string[]> =>
  (
    await platform.db.query<{ text: string }>(
      `select actor_kind || ' ' || operation as text from audit_entries
        where resource_id = $1 and (operation like 'invitation.%' or operation like 'password.%') order by id`,
      [userId],
    )
  ).map(({ text }) => text);

test("the link is shown once, says whom it is for, and signs in with the chosen password, once", async () => {
  const person = await addPerson("ada");
  const answer = await create(person);
  const { email, link, expiresAt } = answer.body.data;
  assert.deepEqual([email, expiresAt], [person.email, platform.clock.now() + 7 * DAY_MS]);
  assert.ok(link.startsWith(`${platform.url}/login#invitation=`));
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const token = tokenOf(answer);
  assert.match(token, /^[\w-]{43}$/);
  const { data } = (await check(token)).body;
  assert.deepEqual(data, { name: "ada", email: person.email, accountName: "Railhead", expiresAt });
  const weak = await accept(token, "Password1234");
  assert.deepEqual([weak.status, weak.headers.getSetCookie()], [400, []]);
  const browser = pretendBrowser(replica);
  const accepted = await browser.send("POST", "/auth/login/invitation", { token, newPassword: CHOSEN });
  assert.equal(accepted.status, 200, accepted.text);
  assert.deepEqual(
    [accepted.body.data.user.id, accepted.body.data.mustChangePassword, accepted.body.data.hasPassword],
    [person.id, false, true],
  );
  assert.equal((await browser.send("GET", "/auth/session")).body.data.user.email, person.email);
  assert.equal((await pretendBrowser(platform).signIn(person.email, CHOSEN)).status, 200);
  await assertInvalid(token);
  assert.deepEqual(await entries(person.id), ["user invitation.create", "user invitation.accept"]);
  const dump = await platform.db.query<{ text: string }>(
    `select coalesce(string_agg(e::text, ''), '') || (select coalesce(string_agg(i::text, ''), '') from invitations i) as text
       from audit_entries e`,
  );
  assert.ok(!dump[0]?.text.includes(token));
});

test("of several people who accept at once, on two replicas, one gets the user", async () => {
  const person = await addPerson("once");
  const token = await invite(person);
  const answers = await Promise.all([accept(token, CHOSEN), accept(token, `${CHOSEN}!`, replica), accept(token)]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 401, 401],
  );
  const sessions = await platform.db.query("select 1 from sessions where user_id = $1", [fromWire(person.id)]);
  assert.equal(sessions.length, 1);
});

test("an invitation ends when its time is up, when it is revoked, and when another one is made", async () => {
  const person = await addPerson("late");
  const first = await invite(person);
  const second = await invite(person);
  await assertInvalid(first);
  assert.equal((await check(second)).status, 200);
  const listed = await made(platform.send("GET", "/auth/invitations"));
  const entry = listed.content.find(({ userId }: { userId: string }) => userId === person.id);
  assert.deepEqual([entry.email, entry.expiresAt], [person.email, platform.clock.now() + 7 * DAY_MS]);
  assert.ok(!JSON.stringify(listed).includes(second));
  assert.equal((await revoke(person)).status, 200);
  await assertInvalid(second);
  assert.equal((await revoke(person)).status, 404);
  const third = tokenOf(await create(person, { validDays: 2 }));
  platform.clock.advance(2 * DAY_MS - 1);
  assert.equal((await check(third)).status, 200);
  platform.clock.advance(1);
  await assertInvalid(third);
  await platform.platform.sweep();
  assert.deepEqual(await platform.db.query("select 1 from invitations where user_id = $1", [fromWire(person.id)]), []);
  assert.deepEqual(
    await entries(person.id),
    ["create", "create", "revoke", "create"].map((verb) => `user invitation.${verb}`),
  );
});

test("an invitation that is revoked, or expires, while its password is hashed is not accepted", async () => {
  for (const end of [revoke, async () => platform.clock.advance(8 * DAY_MS)]) {
    const person = await addPerson(end === revoke ? "hasty" : "slow");
    const token = await invite(person);
    const { reached, open } = gate.stopAt(/from invitations i where/);
    const answer = accept(token);
    await reached;
    await end(person);
    open();
    assert.equal((await answer).status, 401);
    const [row] = await platform.db.query("select password_hash as hash from users where id = $1", [
      fromWire(person.id),
    ]);
    assert.deepEqual(row, { hash: "" });
  }
});

test("users who can sign in, and deactivated and deleted ones, are not taken over", async () => {
  const withPassword = await addPerson("known");
  await made(post(`/auth/users/${withPassword.id}/password/one-time`));
  const linked = await addPerson("linked");
  const link = (person: Person): Promise<unknown> =>
    platform.db.query(
      `insert into user_identities (account_id, id, user_id, issuer, subject, linked_at) values ($1, $2, $3, 'i', $4, 0)`,
      [fromWire(platform.accountId), randomUUIDv7(), fromWire(person.id), person.id],
    );
  await link(linked);
  for (const person of [withPassword, linked]) {
    const answer = await create(person);
    assert.deepEqual([answer.status, answer.body.code], [402, "INVALID_REQUEST"]);
    assert.match(answer.body.message, /can sign in already/);
  }
  for (const [verb, method, path] of [
    ["left", "POST", "/deactivate"],
    ["gone", "DELETE", ""],
  ] as const) {
    const person = await addPerson(verb);
    const token = await invite(person);
    await made(platform.send(method, `/ng/api/user/${person.id}${path}`));
    await assertInvalid(token);
    assert.equal((await create(person)).status, 404);
    if (verb === "gone") continue;
    await made(post(`/ng/api/user/${person.id}/reactivate`));
    await assertInvalid(token);
  }
  // The user got another way to sign in after the link was made.
  const later = await addPerson("later");
  const token = await invite(later);
  await link(later);
  assert.equal((await accept(token)).status, 401);
  const both = await addPerson("both");
  const replaced = await invite(both);
  await made(post(`/auth/users/${both.id}/password/one-time`));
  await assertInvalid(replaced);
});

test("an invitation ends with the address that it was made for", async () => {
  const scim = (method: string, path: string, userName: string): Promise<Answer> =>
    platform.send(method, `/ng/api/scim/account/${platform.accountId}/Users${path}`, {
      contentType: "application/scim+json",
      body: JSON.stringify({ schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName, active: true }),
    });
  const added = await scim("POST", "", "moved@example.com");
  assert.equal(added.status, 201, added.text);
  const token = await invite(added.body);
  const changed = await scim("PUT", `/${added.body.id}`, "elsewhere@example.com");
  assert.equal(changed.status, 200, changed.text);
  await assertInvalid(token);
});

test("nobody is invited without core_user_manage, by those who hold less, and by themselves", async () => {
  const person = await addPerson("strong");
  await assign(person.id, "_account_viewer");
  const manager = await addManager("manager");
  const viewer = await platform.addUser("_account_viewer");
  assert.equal((await create(person, undefined, viewer)).status, 403);
  assert.equal((await revoke(person, viewer)).status, 403);
  const beyond = await create(person, undefined, manager.apiKey);
  assert.deepEqual([beyond.status, beyond.body.code], [403, "NG_ACCESS_DENIED"]);
  assert.match(beyond.text, /cannot grant/);
  assert.equal((await create({ id: manager.id }, undefined, manager.apiKey)).status, 400);
  const other = await platform.addAccount();
  const asOther = { apiKey: other.apiKey, account: other.accountId };
  for (const method of ["POST", "DELETE"])
    assert.equal((await platform.send(method, `/auth/users/${person.id}/invitation`, asOther)).status, 404, method);
  for (const validDays of [0, 31, 1.5, "7", -1]) assert.equal((await create(person, { validDays })).status, 400);
});

test("who made the link cannot use it for roles that the user got later, nor after leaving", async () => {
  const manager = await addManager("plotter");
  const promoted = await addPerson("promoted");
  const token = tokenOf(await create(promoted, undefined, manager.apiKey));
  await assign(promoted.id, "_account_admin");
  assert.equal((await accept(token)).status, 401);
  const [refusal] = await platform.db.query<{ resource_id: string }>(
    "select resource_id from audit_entries where operation = 'session.refuse' order by id desc limit 1",
  );
  assert.equal(refusal?.resource_id, promoted.email);
  const own = await invite(promoted);
  assert.equal((await accept(own)).status, 200, "an administrator holds as much");
  const plain = await addPerson("plain");
  const left = tokenOf(await create(plain, undefined, manager.apiKey));
  await made(post(`/ng/api/user/${manager.id}/deactivate`));
  assert.equal((await accept(left)).status, 401);
});

test("guesses from an address pause, and do not delay sign-ins from there", async () => {
  const person = await addPerson("guessed");
  const token = await invite(person);
  const statuses = new Set<number>();
  for (let nth = 0; nth < 32; nth += 1) statuses.add((await check(`guess-${nth}`)).status);
  assert.deepEqual([...statuses], [401, 429]);
  const paused = await accept(token);
  assert.deepEqual([paused.status, paused.headers.has("retry-after")], [429, true]);
  assert.equal((await pretendBrowser(platform).signIn("nobody@example.com", PASSWORD)).status, 401);
  platform.clock.advance(15 * 60_000);
  assert.equal((await accept(token)).status, 200);
});

test("pages of other sites, forms and longer texts are refused", async () => {
  const token = await invite(await addPerson("framed"));
  const body = { token, newPassword: CHOSEN };
  const browser = pretendBrowser(platform);
  const foreign = { headers: { origin: "https://evil.example" } };
  for (const [path, sent] of [
    ["/auth/login/invitation/check", { token }],
    ["/auth/login/invitation", body],
  ] as const) {
    assert.equal((await browser.send("POST", path, sent, foreign)).status, 403);
    assert.equal((await browser.send("POST", path, sent, { contentType: "text/plain" })).status, 400);
    assert.equal((await browser.send("POST", path, { ...sent, token: "x".repeat(300) })).status, 400);
  }
  assert.equal((await accept(token)).status, 200);
});
