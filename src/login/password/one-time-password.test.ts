/** An administrator sets a first password for a person without a shell on the server. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { pretendBrowser } from "../../../test/support/clients/browser.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { createAccess } from "../../access/index.ts";
import { createAudit } from "../../audit/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { anyActive, findServiceAccount, createIdentity } from "../../identity/index.ts";
import { setOneTimePassword } from "./one-time-password.ts";
import { selectValidSessions } from "../store/sessions.ts";

const CHOSEN = "plum-lantern-orbit-43";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

type Person = { readonly id: string; readonly email: string };

async function invite(email: string): Promise<Person> {
  const made = await platform.graphql(
    `mutation { createUser(input: { email: "${email}", name: "Ada" }) { user { id email } } }`,
  );
  return made.body.data?.createUser.user ?? assert.fail(made.text);
}

const setFor = ({ id }: Pick<Person, "id">, apiKey?: string): Promise<Answer> =>
  platform.send("POST", `/auth/users/${id}/password/one-time`, apiKey === undefined ? {} : { apiKey });

const hashOf = async ({ email }: Person): Promise<unknown> =>
  (await platform.db.query("select password_hash, must_change_password from users where email = $1", [email]))[0];

test("a one-time password is shown once, signs the user in, and allows only its change", async () => {
  const person = await invite("ada@example.com");
  const answer = await setFor(person);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { email, oneTimePassword } = answer.body.data;
  assert.equal(email, person.email);
  assert.match(oneTimePassword, /^[\w-]{20}$/);
  const stored = await platform.db.query<{ text: string }>(
    "select u::text || (select string_agg(e::text, '') from audit_entries e) as text from users u",
  );
  assert.ok(stored.every(({ text }) => !text.includes(oneTimePassword)));

  const browser = pretendBrowser(platform);
  const signedIn = await browser.signIn(person.email, oneTimePassword);
  assert.deepEqual([signedIn.status, signedIn.body.data.mustChangePassword], [200, true]);
  const early = await browser.send("GET", "/ng/api/organizations");
  assert.deepEqual([early.status, early.body.code], [403, "PASSWORD_EXPIRED"]);
  const changed = await browser.send("POST", "/auth/password", {
    currentPassword: oneTimePassword,
    newPassword: CHOSEN,
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await browser.send("GET", "/auth/session")).body.data.mustChangePassword, false);
  assert.equal((await pretendBrowser(platform).signIn(person.email, oneTimePassword)).status, 401);
});

test("a new one-time password ends sessions and the previous password, and the trail has its author but not its value", async () => {
  const person = await invite("bob@example.com");
  const first = (await setFor(person)).body.data.oneTimePassword;
  const browser = pretendBrowser(platform);
  assert.equal((await browser.signIn(person.email, first)).status, 200);
  const second = (await setFor(person)).body.data.oneTimePassword;
  assert.equal((await browser.send("GET", "/auth/session")).body.data.signedIn, false);
  assert.equal((await pretendBrowser(platform).signIn(person.email, first)).status, 401);
  assert.equal((await pretendBrowser(platform).signIn(person.email, second)).status, 200);
  const [entry] = await platform.db.query<{ actor_kind: string; outcome: string; difference: string }>(
    "select actor_kind, outcome, difference::text from audit_entries where operation = 'password.set-one-time' order by at desc, id desc limit 1",
  );
  assert.deepEqual([entry?.actor_kind, entry?.outcome], ["user", "success"]);
  assert.match(entry?.difference ?? "", /"sessions".*1/);
});

test("an administrator of users cannot set the password of a user who holds more, and no user sets their own", async () => {
  const admin = (await platform.graphql("{ users(limit: 50) { nodes { id email } } }")).body.data.users.nodes.find(
    ({ email }: Person) => email === "admin@railhead.local",
  );
  const before = await hashOf(admin);
  const manager = await platform.addUser("_account_viewer");
  const [newest] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await platform.send("POST", path, { contentType: "application/json", body: JSON.stringify(body) });
    assert.equal(answer.status, 200, answer.text);
  };
  await post("/authz/api/roles", { identifier: "managers", name: "managers", permissions: ["core_user_manage"] });
  await post("/authz/api/roleassignments", {
    principal: { identifier: toWire(newest?.id ?? assert.fail()), type: "USER" },
    roleIdentifier: "managers",
    resourceGroupIdentifier: "_all_resources_including_child_scopes",
  });
  const beyond = await setFor(admin, manager);
  assert.equal(beyond.status, 403, beyond.text);
  assert.match(beyond.body.message, /You cannot grant/);
  const own = await setFor(admin);
  assert.deepEqual(
    [own.status, own.body.message],
    [400, "You cannot set a one-time password for yourself. Change your password with POST /auth/password."],
  );
  assert.deepEqual(await hashOf(admin), before);
  // A user without permissions is allowed.
  const within = await setFor(await invite("eve@example.com"), manager);
  assert.equal(within.status, 200, within.text);
});

test("a one-time password is refused without the permission, for an unknown user and for a deactivated one", async () => {
  const person = await invite("carl@example.com");
  const before = await hashOf(person);
  assert.equal((await setFor(person, await platform.addUser("_account_viewer"))).status, 403);
  for (const id of [platform.accountId, "x"]) assert.equal((await setFor({ id })).status, 404);
  await platform.db.query("update users set active = false where email = $1", [person.email]);
  assert.equal((await setFor(person)).status, 404);
  assert.deepEqual(await hashOf(person), before);
});

/** The dependencies of setting a one-time password. `meanwhile` runs while the password is hashed. */
function settingWith(meanwhile: () => Promise<unknown>) {
  const { db, clock } = platform;
  const newId = () => randomUUIDv7() as Uuid;
  const base = { db, clock, newId, audit: createAudit({ clock, newId }), onError: assert.ifError };
  const requireScope = async (): Promise<void> => undefined;
  const access = createAccess({ ...base, requireScope, anyActive, findServiceAccount });
  const validSessions = (sessions: Parameters<typeof selectValidSessions>[1], now: number) =>
    selectValidSessions(db, sessions, { now, seenAfter: 0 });
  const identity = createIdentity({ ...base, ...access, requireScope, selectValidSessions: validSessions });
  const stop = (): void => {
    for (const one of [access, identity]) one.stop();
  };
  const setOneTime = setOneTimePassword({
    ...{ ...base, ...access, ...identity },
    enqueueHash: async (_hasher, work) => {
      const hash = await work();
      await meanwhile();
      return hash;
    },
  });
  return { setOneTime, authenticate: identity.authenticate, stop };
}

async function administrator() {
  const key = await platform.addUser("_account_admin");
  const [user] = await platform.db.query<{ id: Uuid; email: string }>(
    "select id, email from users order by id desc limit 1",
  );
  return { key, ...(user ?? assert.fail()) };
}
type Administrator = Awaited<ReturnType<typeof administrator>>;

test("an administrator who loses account, credential or role while the password is hashed sets none", async () => {
  const ended = "http.no_credential";
  const losses: Readonly<Record<string, { lose: (one: Administrator) => Promise<unknown>; code: string }>> = {
    "the account": { lose: ({ id }) => platform.send("POST", `/ng/api/user/${toWire(id)}/deactivate`), code: ended },
    "the credential": {
      lose: ({ id }) =>
        platform.db.query("delete from tokens where api_key_id in (select id from api_keys where user_id = $1)", [id]),
      code: ended,
    },
    "the role": {
      lose: ({ id }) => platform.db.query("delete from role_assignments where principal_id = $1", [id]),
      code: "access.not_permitted",
    },
  };
  for (const [lost, { lose, code }] of Object.entries(losses)) {
    const [asking, other] = [await administrator(), await administrator()];
    const before = await hashOf({ ...other, id: toWire(other.id) });
    const { setOneTime, authenticate, stop } = settingWith(async () => {
      await lose(asking);
      platform.clock.advance(1_001);
    });
    const actor = (await authenticate(asking.key)) ?? assert.fail();
    await assert.rejects(setOneTime(actor, toWire(other.id)), { code }, lost);
    assert.deepEqual(await hashOf({ ...other, id: toWire(other.id) }), before, lost);
    stop();
  }
  const [asking, other] = [await administrator(), await administrator()];
  const { setOneTime, authenticate, stop } = settingWith(async () => platform.clock.advance(1_001));
  const actor = (await authenticate(asking.key)) ?? assert.fail();
  assert.equal((await setOneTime(actor, toWire(other.id))).email, other.email, "who loses nothing sets it");
  stop();
});
