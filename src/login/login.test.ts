/** Sign-in with a password, and the rights of a session (docs/api/login.md). */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { pretendBrowser, type PretendBrowser } from "../../test/support/clients/browser.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD, createSession } from "../../test/support/sessions.ts";
import { until } from "../../test/support/until.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import { hashPassword } from "../platform/crypto/passwords.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());
beforeEach(async () => {
  await setUserPassword(platform);
  await platform.db.query("delete from sign_in_failures");
  await platform.db.query("delete from sessions");
  platform.clock.advance(2_000);
});

const signedInBrowser = async (): Promise<PretendBrowser> => {
  const browser = pretendBrowser(platform);
  const answer = await browser.signIn(ADMIN, PASSWORD);
  assert.equal(answer.status, 200, answer.text);
  return browser;
};
const projects = (browser: PretendBrowser) => browser.send("GET", "/ng/api/organizations");
const trail = async (operation: string): Promise<readonly Record<string, unknown>[]> =>
  platform.db.query(
    "select actor_kind, actor_name, resource_id, remote_address, request_path from audit_entries where operation = $1 order by at, id",
    [operation],
  );

/** Outcome, code and status of the newest entries of an operation. */
const outcomes = async (operation: string, limit: number): Promise<readonly string[]> => {
  const rows = await platform.db.query<{ outcome: string; code: string | null; status: number | null }>(
    "select outcome, code, status from audit_entries where operation = $1 order by at desc, id desc limit $2",
    [operation, limit],
  );
  return rows.map(({ outcome, code, status }) => `${outcome} ${code} ${status}`);
};

test("e-mail and password open a session for REST and GraphQL, with its anti-forgery token", async () => {
  const browser = pretendBrowser(platform);
  const anonymous = await browser.send("GET", "/auth/session");
  assert.deepEqual([anonymous.status, anonymous.body.data], [200, { signedIn: false, openIdConnect: null }]);
  const answer = await browser.signIn("Admin@Railhead.LOCAL", PASSWORD);
  assert.equal(answer.status, 200, answer.text);
  const { csrfToken, expiresAt, user, ...rest } = answer.body.data;
  assert.deepEqual(rest, {
    signedIn: true,
    accountIdentifier: platform.accountId,
    accountName: "Railhead",
    mustChangePassword: false,
    hasPassword: true,
    openIdConnect: null,
  });
  assert.equal(user.email, ADMIN);
  assert.equal(expiresAt, platform.clock.now() + 7 * 24 * 3_600_000);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const again = await browser.send("GET", "/auth/session");
  assert.deepEqual(again.body.data, answer.body.data);
  assert.equal((await projects(browser)).status, 200);
  const query = { query: "{ users { nodes { email } } }", variables: null };
  const asked = await browser.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, query);
  assert.equal(asked.body.data.users.nodes[0].email, ADMIN, asked.text);
  assert.ok(csrfToken.length >= 40);
});

test("each cookie is set once (RFC 6265 section 4.1.1)", async () => {
  const browser = pretendBrowser(platform);
  const names = ({ headers }: Answer): readonly string[] =>
    headers.getSetCookie().map((line) => line.slice(0, line.indexOf("=")));
  assert.deepEqual(names(await browser.signIn(ADMIN, PASSWORD)), ["railhead_session", "railhead_device"]);
  assert.deepEqual(names(await browser.send("POST", "/auth/logout")), ["railhead_session"]);
});

test("spaces around the e-mail address are ignored, and text that is no address is not recorded", async () => {
  assert.equal((await pretendBrowser(platform).signIn(`  ${ADMIN} `, PASSWORD)).status, 200);
  for (const typed of ["hunter2 is my password", "p@ssw0rd-of-mine", "  "])
    assert.equal((await pretendBrowser(platform).signIn(typed, PASSWORD)).status, 401);
  const kept = (await trail("session.refuse")).slice(-3);
  assert.deepEqual(
    kept.map((entry) => entry["resource_id"]),
    ["(no e-mail address)", "(no e-mail address)", "(no e-mail address)"],
  );
  const everything = await platform.db.query<{ text: string }>("select e::text as text from audit_entries e");
  assert.ok(everything.every(({ text }) => !text.includes("hunter2") && !text.includes("p@ssw0rd")));
});

test("a refused session is in the audit trail with its user", async () => {
  const browser = await signedInBrowser();
  const from = (headers: Readonly<Record<string, string>>, path = "/ng/api/organizations") =>
    browser.send("POST", path, {}, { headers });
  await from({ "x-csrf-token": "wrong" });
  await from({ origin: "https://evil.example" });
  await from({ "x-csrf-token": "wrong" }, `/api/graphql?accountId=${platform.accountId}`);
  await from({ "sec-fetch-site": "same-site" }, "/auth/logout");
  await platform.db.query("update users set must_change_password = true where email = $1", [ADMIN]);
  const expired = await signedInBrowser();
  assert.equal((await projects(expired)).status, 403);
  await platform.platform.sweep();
  const rows = await platform.db.query(
    `select operation, code, status, actor_kind, actor_name, remote_address from audit_entries
      where outcome = 'refused' and at >= $1 order by operation, code`,
    [platform.clock.now()],
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ["graphql.run", "login.no_csrf", 403, "user", "admin", "127.0.0.1"],
      ["organization.create", "login.no_csrf", 403, "user", "admin", "127.0.0.1"],
      ["organization.create", "login.other_origin", 403, "user", "admin", "127.0.0.1"],
      ["organization.list", "login.must_change", 403, "user", "admin", "127.0.0.1"],
      ["session.end", "login.other_origin", 403, "user", "admin", "127.0.0.1"],
    ],
  );
});

test("the session cookie is HttpOnly and SameSite=Strict, and the database has only a hash of it", async () => {
  const answer = await pretendBrowser(platform).signIn(ADMIN, PASSWORD);
  const [session = "", device = ""] = answer.headers.getSetCookie();
  assert.match(
    session,
    /^railhead_session=ses\.[\w-]{22}\.[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
  );
  assert.match(device, /^railhead_device=[\w-]+; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Strict$/);
  const secret = /\.([\w-]{43});/.exec(session)?.[1] ?? "";
  const [row] = await platform.db.query<{ text: string }>("select s::text as text from sessions s");
  assert.ok(row && !row.text.includes(secret) && !row.text.includes(Buffer.from(secret).toString("hex")));
  assert.ok(!answer.text.includes(secret));
});

test("a session ends after half a day without a request, and after a week in any case", async () => {
  const idle = await signedInBrowser();
  platform.clock.advance(12 * 3_600_000 - 1_000);
  assert.equal((await projects(idle)).status, 200);
  platform.clock.advance(12 * 3_600_000 - 61_000);
  assert.equal((await projects(idle)).status, 200, "a request puts the end off");
  platform.clock.advance(12 * 3_600_000);
  assert.equal((await projects(idle)).status, 401);
  const busy = await signedInBrowser();
  for (let half = 0; half < 14; half += 1) {
    assert.equal((await projects(busy)).status, 200, `half-day ${half}`);
    platform.clock.advance(12 * 3_600_000 - 60_000);
  }
  platform.clock.advance(14 * 60_000);
  assert.equal((await projects(busy)).status, 401);
  await platform.platform.sweep();
  assert.deepEqual(await platform.db.query("select 1 from sessions"), []);
});

test("signing out ends the session within a second on every replica, and is recorded", async () => {
  const replica = await platform.replica();
  const browser = await signedInBrowser();
  const elsewhere = (): Promise<number> =>
    replica
      .send("GET", "/ng/api/organizations", {
        apiKey: null,
        headers: { cookie: cookie, "x-csrf-token": browser.csrfToken() },
      })
      .then(({ status }) => status);
  const cookie = `railhead_session=${browser.cookies()["railhead_session"]}`;
  assert.equal(await elsewhere(), 200);
  const out = await browser.send("POST", "/auth/logout");
  assert.deepEqual([out.status, out.body.data], [200, { ended: 1 }]);
  assert.deepEqual(Object.keys(browser.cookies()), ["railhead_device"]);
  assert.equal(
    (await platform.send("GET", "/ng/api/organizations", { apiKey: null, headers: { cookie } })).status,
    401,
  );
  // NOTIFY does it: the clock stands still, so a cached result would never expire.
  await until(elsewhere, (status) => status === 401);
  const [entry] = await trail("session.delete");
  assert.deepEqual([entry?.["actor_kind"], entry?.["actor_name"]], ["user", "admin"]);
});

test("the list of one's own sessions: one is ended, then all of them", async () => {
  const [one, two, three] = [await signedInBrowser(), await signedInBrowser(), await signedInBrowser()];
  await platform.db.query("delete from sessions where user_id <> (select id from users where email = $1)", [ADMIN]);
  const { body } = await one.send("GET", "/auth/sessions");
  assert.equal(body.data.length, 3);
  assert.deepEqual(
    body.data.map(({ current }: { current: boolean }) => current),
    [false, false, true],
  );
  assert.deepEqual(Object.keys(body.data[0]).toSorted(), [
    "createdAt",
    "current",
    "expiresAt",
    "id",
    "lastSeenAt",
    "method",
    "remoteAddress",
    "userAgent",
  ]);
  const ended = await one.send("DELETE", `/auth/sessions/${body.data[0].id}`);
  assert.equal(ended.status, 200, ended.text);
  assert.equal((await one.send("DELETE", `/auth/sessions/${body.data[0].id}`)).status, 404);
  assert.equal((await one.send("DELETE", "/auth/sessions/x")).status, 404);
  platform.clock.advance(1_000);
  assert.deepEqual([(await projects(two)).status, (await projects(three)).status], [200, 401]);
  const all = await one.send("DELETE", "/auth/sessions");
  assert.deepEqual([all.status, all.body.data], [200, { ended: 2 }]);
  platform.clock.advance(1_000);
  assert.deepEqual([(await projects(one)).status, (await projects(two)).status], [401, 401]);
});

test("a session of another user cannot be ended", async () => {
  await platform.addUser("_account_admin");
  const [other] = await platform.db.query<{ email: string }>("select email from users where email <> $1", [ADMIN]);
  const theirs = await createSession(platform, other?.email);
  const browser = await signedInBrowser();
  assert.equal((await browser.send("DELETE", `/auth/sessions/${theirs.id}`)).status, 404);
  assert.equal((await browser.send("GET", "/auth/sessions")).body.data.length, 1);
  await browser.send("DELETE", "/auth/sessions");
  platform.clock.advance(1_000);
  const still = await platform.send("GET", "/ng/api/organizations", { apiKey: null, headers: theirs.headers });
  assert.equal(still.status, 200, still.text);
});

test("a one-time password allows only its change", async () => {
  await platform.db.query("update users set must_change_password = true where email = $1", [ADMIN]);
  const browser = await signedInBrowser();
  assert.equal((await browser.send("GET", "/auth/session")).body.data.mustChangePassword, true);
  const graphql = `/api/graphql?accountId=${platform.accountId}`;
  for (const answer of [
    await projects(browser),
    await browser.send("POST", graphql, { query: "{ users { nodes { id } } }" }),
  ]) {
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /PASSWORD_EXPIRED/);
  }
  const changed = await browser.send("POST", "/auth/password", {
    currentPassword: PASSWORD,
    newPassword: "seven grey herons at dusk",
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(changed.body.data.mustChangePassword, false);
  assert.equal((await projects(browser)).status, 200);
  assert.equal((await trail("password.change")).length, 1);
});

test("a changed password ends the other sessions, renews this one, and replaces the old password", async () => {
  const [browser, other] = [await signedInBrowser(), await signedInBrowser()];
  const before = browser.cookies()["railhead_session"];
  const chosen = "seven grey herons at dusk";
  const wrong = await browser.send("POST", "/auth/password", { currentPassword: "not this one", newPassword: chosen });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message, /The current password is wrong/);
  assert.deepEqual(await outcomes("session.refuse", 1), ["refused login.wrong_current 400"]);
  const weak = await browser.send("POST", "/auth/password", { currentPassword: PASSWORD, newPassword: "Password1234" });
  assert.match(weak.body.message, /^The new password is among those that are tried first\.$/);
  const same = await browser.send("POST", "/auth/password", { currentPassword: PASSWORD, newPassword: PASSWORD });
  assert.match(same.body.message, /is the one that it replaces/);
  assert.equal(
    (await browser.send("POST", "/auth/password", { currentPassword: PASSWORD, newPassword: chosen })).status,
    200,
  );
  assert.notEqual(browser.cookies()["railhead_session"], before);
  platform.clock.advance(1_000);
  assert.deepEqual([(await projects(browser)).status, (await projects(other)).status], [200, 401]);
  const stale = { cookie: `railhead_session=${before}`, "x-csrf-token": browser.csrfToken() };
  assert.equal((await platform.send("GET", "/ng/api/organizations", { apiKey: null, headers: stale })).status, 401);
  const fresh = pretendBrowser(platform);
  assert.equal((await fresh.signIn(ADMIN, PASSWORD)).status, 401);
  assert.equal((await fresh.signIn(ADMIN, chosen)).status, 200);
});

test("a password hash with outdated parameters is renewed at sign-in", async () => {
  const weak = await hashPassword(PASSWORD, { memory: 8 * 1024, passes: 1, parallelism: 1 });
  await platform.db.query("update users set password_hash = $1 where email = $2", [weak, ADMIN]);
  await signedInBrowser();
  const [row] = await platform.db.query<{ hash: string }>("select password_hash as hash from users where email = $1", [
    ADMIN,
  ]);
  assert.match(row?.hash ?? "", /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  await signedInBrowser();
});

test("sign-ins and failed sign-ins are recorded with the address, and never with the password", async () => {
  const browser = pretendBrowser(platform);
  const typed = "a typed password";
  assert.equal((await browser.signIn("Unknown@Example.com", typed)).status, 401);
  await signedInBrowser();
  const [refused] = (await trail("session.refuse")).slice(-1);
  assert.deepEqual(refused, {
    actor_kind: "system",
    actor_name: "system",
    resource_id: "unknown@example.com",
    remote_address: "127.0.0.1",
    request_path: "/auth/login",
  });
  assert.deepEqual(await outcomes("session.refuse", 1), ["refused login.refused 401"]);
  assert.deepEqual(await outcomes("session.create", 1), ["success null null"]);
  const [entered] = (await trail("session.create")).slice(-1);
  assert.deepEqual([entered?.["actor_kind"], entered?.["remote_address"]], ["user", "127.0.0.1"]);
  const everything = await platform.db.query<{ text: string }>("select e::text as text from audit_entries e");
  assert.ok(everything.every(({ text }) => !text.includes(typed) && !text.includes(PASSWORD)));
});

test("a body that is not JSON, or has unknown or too long fields, is refused before any lookup", async () => {
  for (const [contentType, body] of [
    ["text/plain", JSON.stringify({ email: ADMIN, password: PASSWORD })],
    ["application/yaml", `email: ${ADMIN}\npassword: ${PASSWORD}\n`],
    ["application/x-www-form-urlencoded", `email=${ADMIN}&password=${PASSWORD}`],
    ["application/json", JSON.stringify({ email: ADMIN, password: "x".repeat(801) })],
    ["application/json", JSON.stringify({ email: [ADMIN], password: PASSWORD })],
  ] as const) {
    const answer = await platform.send("POST", "/auth/login", { apiKey: null, contentType, body });
    assert.equal(answer.status, 400, `${contentType} ${body.slice(0, 80)}: ${answer.text}`);
    assert.equal(answer.headers.getSetCookie().length, 0);
    assert.ok(!answer.text.includes(PASSWORD));
  }
  assert.deepEqual(await platform.db.query("select 1 from sign_in_failures"), []);
});

test("a deleted or deactivated user is signed out within a second on every replica and cannot sign in again", async () => {
  const replica = await platform.replica();
  for (const how of ["deleted", "deactivated"]) {
    await platform.addUser("_account_viewer");
    const [user] = await platform.db.query<{ id: Uuid; email: string }>(
      "select id, email from users where email <> $1 and active order by created_at desc, id desc limit 1",
      [ADMIN],
    );
    assert.ok(user);
    await setUserPassword(platform, user.email);
    const { headers } = await createSession(platform, user.email);
    const ask = (at: TestPlatform) => at.send("GET", "/ng/api/organizations", { apiKey: null, headers });
    assert.deepEqual([(await ask(platform)).status, (await ask(replica)).status], [200, 200]);
    if (how === "deleted") {
      const gone = await platform.send("DELETE", `/ng/api/user/${toWire(user.id)}`);
      assert.equal(gone.status, 200, gone.text);
      assert.deepEqual(await platform.db.query("select 1 from sessions where user_id = $1", [user.id]), []);
    } else await platform.db.query("update users set active = false where id = $1", [user.id]);
    platform.clock.advance(1_000);
    assert.deepEqual([(await ask(platform)).status, (await ask(replica)).status], [401, 401], how);
    assert.equal((await pretendBrowser(platform).signIn(user.email, PASSWORD)).status, 401);
  }
});

test("a user whose sign-in is paused is shown as locked in REST and GraphQL for as long as the pause lasts", async () => {
  const [person] = (await platform.graphql(`{ users { nodes { id email } } }`)).body.data.users.nodes;
  const shown = async (): Promise<readonly boolean[]> => {
    const whole = await platform.send("GET", `/ng/api/user/${person.id}`);
    const listed = await platform.send("POST", `/ng/api/user/batch?searchTerm=${person.email}`);
    const { body } = await platform.graphql(
      `{ user(id: "${person.id}") { isUserLocked } users { nodes { id isUserLocked } } }`,
    );
    const node = body.data.users.nodes.find(({ id }: { id: string }) => id === person.id);
    return [whole.body.data.locked, listed.body.data.content[0].locked, body.data.user.isUserLocked, node.isUserLocked];
  };
  const wrong = { email: person.email, password: "not the password at all" };
  const attempt = (): Promise<Answer> =>
    platform.send("POST", "/auth/login", {
      apiKey: null,
      account: null,
      contentType: "application/json",
      body: JSON.stringify(wrong),
    });
  assert.deepEqual(await shown(), [false, false, false, false]);
  // From anywhere, each time after the pause of the address: fifty failures have no effect on the person.
  await platform.db.query("delete from sign_in_failures");
  for (let failed = 0; failed < 50; failed += 1) {
    assert.equal((await attempt()).status, 401);
    await platform.db.query("delete from sign_in_failures where subject not like 'person %'");
  }
  assert.deepEqual(await shown(), [false, false, false, false]);
  assert.equal((await attempt()).status, 401);
  assert.deepEqual(await shown(), [true, true, true, true]);
  platform.clock.advance(1_000);
  assert.deepEqual(await shown(), [false, false, false, false]);
  await platform.db.query("delete from sign_in_failures");
});
