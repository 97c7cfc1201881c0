/** Single sign-on with a real provider (docs/operations/single-sign-on.md). */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { pretendBrowser, type PretendBrowser } from "../../../test/support/clients/browser.ts";
import {
  startIdentityProvider,
  signInAtProvider,
  type TestProvider,
} from "../../../test/support/services/identity-provider.ts";
import { requestDuringChange } from "../../../test/support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import { createAudit } from "../../audit/index.ts";
import { createSignInUsers } from "../../identity/index.ts";
import { resetPassword, type Reset } from "../password/reset-password.ts";
import { ADMIN, setUserPassword, PASSWORD, createSession } from "../../../test/support/sessions.ts";

let provider: TestProvider;
let platform: TestPlatform;
/** With RAILHEAD_OIDC_LINK_BY_EMAIL. */
let trusting: TestPlatform;
before(async () => {
  provider = await startIdentityProvider();
  const oidc = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    scopes: "openid email",
    name: "Example",
    linkByEmail: false,
  };
  platform = await startTestPlatform({ oidc });
  trusting = await startTestPlatform({ oidc: { ...oidc, linkByEmail: true } });
  for (const one of [platform, trusting]) {
    provider.allow(`${one.url}/auth/oidc/callback`);
    await setUserPassword(one);
  }
  provider.accounts.set("admin", { sub: "admin", email: ADMIN, verified: true });
});
after(async () => {
  await platform?.stop();
  await trusting?.stop();
  await provider?.stop();
});
beforeEach(async () => {
  for (const one of [platform, trusting])
    for (const table of ["user_identities", "identity_links_allowed", "sessions"])
      await one.db.query(`delete from ${table}`);
  platform.clock.advance(2_000);
});

const here = (at: TestPlatform, address: string): string => address.slice(at.url.length);

/** Signs in through the provider as this person. Returns the answer of our server's callback. */
async function signIn(at: TestPlatform, browser: PretendBrowser, name: string, query = ""): Promise<Answer> {
  const start = await browser.send("GET", `/auth/oidc/start${query}`, undefined, { account: null, redirect: "manual" });
  assert.equal(start.status, 302, start.text);
  const back = await signInAtProvider(start.headers.get("location") ?? "", name);
  return browser.send("GET", here(at, back), undefined, { account: null, redirect: "manual" });
}
/** As `railhead admin reset-password` does it. */
const reset = (how: { readonly unlink: boolean }): Promise<Reset> => {
  const { db, clock, accountId } = platform;
  const audit = createAudit({ ...platform, newId: () => randomUUIDv7() as Uuid });
  const people = createSignInUsers(platform);
  return resetPassword({ db, clock, audit, people })(fromWire(accountId) as Uuid, ADMIN, how);
};

/** The field `identitiesKept` of the last entry of this operation. */
async function kept(operation: string): Promise<unknown> {
  const [entry] = await platform.db.query<{ difference: { changes: { field: string; after?: unknown }[] } }>(
    "select difference from audit_entries where operation = $1 order by at desc, id desc limit 1",
    [operation],
  );
  return entry?.difference.changes.find(({ field }) => field === "identitiesKept")?.after;
}
const location = ({ headers }: Answer): string | null => headers.get("location");

async function linked(name = "admin"): Promise<PretendBrowser> {
  const browser = pretendBrowser(platform);
  await browser.signIn(ADMIN, PASSWORD);
  const link = await browser.send("POST", "/auth/oidc/link");
  assert.equal(link.status, 200, link.text);
  const back = await signInAtProvider(link.body.data.location, name);
  const answer = await browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" });
  assert.equal(location(answer), "/login", answer.text);
  return browser;
}

test("a signed-in user links an identity and signs in with it from then on", async () => {
  const browser = await linked();
  const own = await browser.send("GET", "/auth/identities");
  assert.deepEqual(
    own.body.data.map(({ issuer, subject }: Record<string, unknown>) => [issuer, subject]),
    [[provider.issuer, "admin"]],
  );
  const another = pretendBrowser(platform);
  const answer = await signIn(platform, another, "admin", "?returnTo=%2Fgraphql-explorer%3Fx%3D1");
  assert.equal(location(answer), "/graphql-explorer?x=1");
  const { body } = await another.send("GET", "/auth/session");
  assert.deepEqual([body.data.user.email, body.data.openIdConnect], [ADMIN, { name: "Example" }]);
  assert.equal((await another.send("GET", "/ng/api/organizations")).status, 200);
  assert.equal((await another.send("GET", "/auth/sessions")).body.data[0].method, "OPENID_CONNECT");
  const [row] = await platform.db.query<{ count: number }>(
    "select count(*) as count from audit_entries where operation in ('identity.link', 'session.create')",
  );
  assert.ok((row?.count ?? 0) >= 3);
  const [redeemed] = provider.redeemed().slice(-1);
  assert.ok((redeemed?.get("code_verifier") ?? "").length >= 43);
});

test("e-mail alone matches no user: an unknown subject is refused with every address", async () => {
  const browser = pretendBrowser(platform);
  const answer = await signIn(platform, browser, "admin");
  assert.equal(location(answer), "/login?failure=unlinked");
  assert.equal(browser.cookies()["railhead_session"], undefined);
  assert.deepEqual(await platform.db.query("select 1 from user_identities"), []);
  const [entry] = await platform.db.query(
    "select resource_id, outcome, code, status from audit_entries where operation = 'session.refuse' order by at desc, id desc limit 1",
  );
  assert.deepEqual(entry, { resource_id: ADMIN, outcome: "refused", code: "login.unlinked", status: 401 });
});

test("an administrator allows the first link by e-mail: once, for seven days, for this user", async () => {
  const [user] = (await platform.graphql("{ users { nodes { id email } } }")).body.data.users.nodes;
  const allow = (): Promise<Answer> => platform.send("POST", `/auth/users/${user.id}/identities/allow`);
  assert.equal((await allow()).status, 200);
  platform.clock.advance(7 * 24 * 3_600_000);
  assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login?failure=unlinked");
  assert.equal((await allow()).body.data.until, platform.clock.now() + 7 * 24 * 3_600_000);
  provider.accounts.set("unverified", { sub: "unverified", email: ADMIN, verified: false });
  assert.equal(location(await signIn(platform, pretendBrowser(platform), "unverified")), "/login?failure=unlinked");
  assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login");
  provider.accounts.set("second", { sub: "second", email: ADMIN, verified: true });
  assert.equal(location(await signIn(platform, pretendBrowser(platform), "second")), "/login?failure=unlinked");
  const list = await platform.send("GET", `/auth/users/${user.id}/identities`);
  assert.deepEqual(
    list.body.data.map(({ subject }: { subject: string }) => subject),
    ["admin"],
  );
  const gone = await platform.send("DELETE", `/auth/users/${user.id}/identities/${list.body.data[0].id}`);
  assert.equal(gone.status, 200, gone.text);
  assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login?failure=unlinked");
  const viewer = await platform.addUser("_account_viewer");
  for (const path of ["identities/allow", "identities"]) {
    const method = path === "identities" ? "GET" : "POST";
    const answer = await platform.send(method, `/auth/users/${user.id}/${path}`, { apiKey: viewer });
    assert.equal(answer.status, method === "GET" ? 200 : 403, answer.text);
  }
  assert.equal((await platform.send("POST", "/auth/users/AAAAAAAAAAAAAAAAAAAAAA/identities/allow")).status, 404);
});

test("an administrator of users cannot allow a link to a user who holds more, since they may have set the address", async () => {
  const manager = await platform.addUser("_account_viewer");
  const [own] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(own);
  const post = (path: string, body: object, apiKey = platform.apiKey): Promise<Answer> =>
    platform.send("POST", path, { contentType: "application/json", body: JSON.stringify(body), apiKey });
  const role = { identifier: "managers", name: "managers", permissions: ["core_user_manage"] };
  assert.equal((await post("/authz/api/roles", role)).status, 200);
  const principal = { identifier: toWire(own.id), type: "USER" };
  const resourceGroupIdentifier = "_all_resources_including_child_scopes";
  const assigned = await post("/authz/api/roleassignments", {
    ...{ principal, roleIdentifier: "managers", resourceGroupIdentifier },
  });
  assert.equal(assigned.status, 200, assigned.text);
  await platform.addUser("_account_viewer");
  const [lesser] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(lesser);
  const [admin] = await platform.db.query<{ id: Uuid }>("select id from users where email = $1", [ADMIN]);
  assert.ok(admin);
  const allow = (id: Uuid): Promise<Answer> => post(`/auth/users/${toWire(id)}/identities/allow`, {}, manager);
  const refused = await allow(admin.id);
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  assert.match(refused.body.message, /^You cannot grant core_\w+/);
  assert.deepEqual(await platform.db.query("select 1 from identity_links_allowed"), []);
  assert.equal((await allow(lesser.id)).status, 200);
});

test("a deactivation, an unlinked identity and an ended session count while the user is at the provider", async () => {
  const changes = [
    ["update users set active = false where email = $1", "unlinked"],
    ["delete from user_identities where $1 <> ''", "unlinked"],
    ["with u as (update users set password_hash = '' where email = $1) delete from sessions", "refused"],
  ] as const;
  for (const [change, reason] of changes) {
    const [isLinking, browser] = [reason === "refused", await linked()];
    if (isLinking) await platform.db.query("delete from user_identities");
    const start = isLinking
      ? (await browser.send("POST", "/auth/oidc/link")).body.data.location
      : location(await browser.send("GET", "/auth/oidc/start", undefined, { account: null, redirect: "manual" }));
    const back = await signInAtProvider(start, "admin");
    const answer = await requestDuringChange(
      platform.db,
      (tx) => tx.query(change, [ADMIN]),
      () => browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" }),
    );
    assert.equal(location(answer), `/login?failure=${reason}`, change);
    await platform.db.query("update users set active = true");
    await setUserPassword(platform);
    await platform.db.query("delete from user_identities");
  }
});

test("the subject identifies the user: a later owner of the address is another user, a changed address the same one", async () => {
  assert.equal(location(await signIn(trusting, pretendBrowser(trusting), "admin")), "/login");
  provider.accounts.set("admin", { sub: "admin", email: "renamed@example.com", verified: true });
  provider.accounts.set("newcomer", { sub: "newcomer", email: ADMIN, verified: true });
  try {
    const same = pretendBrowser(trusting);
    assert.equal(location(await signIn(trusting, same, "admin")), "/login");
    assert.equal((await same.send("GET", "/auth/session")).body.data.user.email, ADMIN);
    assert.equal(location(await signIn(trusting, pretendBrowser(trusting), "newcomer")), "/login?failure=unlinked");
  } finally {
    provider.accounts.set("admin", { sub: "admin", email: ADMIN, verified: true });
  }
});

test("a deactivated user is refused, and one identity belongs to one user", async () => {
  await linked();
  await platform.addUser("_account_viewer");
  const [other] = await platform.db.query<{ email: string }>("select email from users where email <> $1 limit 1", [
    ADMIN,
  ]);
  await setUserPassword(platform, other?.email);
  const browser = pretendBrowser(platform);
  await browser.signIn(other?.email ?? "", PASSWORD);
  const link = await browser.send("POST", "/auth/oidc/link");
  const back = await signInAtProvider(link.body.data.location, "admin");
  const taken = await browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" });
  assert.equal(location(taken), "/login?failure=taken");
  const [entry] = await platform.db.query(
    "select outcome, code, status, actor_kind from audit_entries where operation = 'identity.link' order by at desc, id desc limit 1",
  );
  assert.deepEqual(entry, { outcome: "refused", code: "login.identity_taken", status: 409, actor_kind: "user" });
  await platform.db.query("update users set active = false where email = $1", [ADMIN]);
  try {
    assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login?failure=unlinked");
  } finally {
    await platform.db.query("update users set active = true where email = $1", [ADMIN]);
  }
});

test("linking needs the session, its anti-forgery token, and a session that is still valid at the callback", async () => {
  const unauthenticated = await platform.send("POST", "/auth/oidc/link", { apiKey: null });
  assert.equal(unauthenticated.status, 401, unauthenticated.text);
  const browser = pretendBrowser(platform);
  await browser.signIn(ADMIN, PASSWORD);
  const forged = await browser.send("POST", "/auth/oidc/link", undefined, { headers: { "x-csrf-token": "x" } });
  assert.equal(forged.status, 403, forged.text);
  const link = await browser.send("POST", "/auth/oidc/link");
  const back = await signInAtProvider(link.body.data.location, "admin");
  await browser.send("POST", "/auth/logout");
  const answer = await browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" });
  assert.equal(location(answer), "/login?failure=refused");
  assert.deepEqual(await platform.db.query("select 1 from user_identities"), []);
});

test("a link begun before the password became a one-time password is refused, with and without a valid session", async () => {
  for (const change of [
    (): Promise<unknown> => platform.db.query("update users set must_change_password = true where email = $1", [ADMIN]),
    (): Promise<unknown> => reset({ unlink: false }),
  ]) {
    await setUserPassword(platform);
    const browser = pretendBrowser(platform);
    await browser.signIn(ADMIN, PASSWORD);
    const link = await browser.send("POST", "/auth/oidc/link");
    const back = await signInAtProvider(link.body.data.location, "admin");
    await change();
    const answer = await browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" });
    assert.equal(location(answer), "/login?failure=refused");
    assert.deepEqual(await platform.db.query("select 1 from user_identities"), []);
  }
  await setUserPassword(platform);
});

test("a password reset lists the linked identities, and unlinks them on request", async () => {
  await linked();
  const [user] = (await platform.graphql("{ users { nodes { id email } } }")).body.data.users.nodes;
  const subjects = ({ identities }: Reset) => identities.map(({ issuer, subject }) => [issuer, subject]);
  try {
    const first = await reset({ unlink: false });
    assert.deepEqual(subjects(first), [[provider.issuer, "admin"]]);
    assert.deepEqual(await kept("password.reset"), [`${provider.issuer} admin`]);
    assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login");
    assert.equal((await platform.send("POST", `/auth/users/${user.id}/identities/allow`)).status, 200);
    const second = await reset({ unlink: true });
    assert.deepEqual(subjects(second), [[provider.issuer, "admin"]]);
    assert.deepEqual(await platform.db.query("select 1 from identity_links_allowed"), []);
    assert.equal(location(await signIn(platform, pretendBrowser(platform), "admin")), "/login?failure=unlinked");
    const [unlinked] = await platform.db.query<{ actor_kind: string }>(
      "select actor_kind from audit_entries where operation = 'identity.unlink' order by at desc, id desc limit 1",
    );
    assert.equal(unlinked?.actor_kind, "system");
  } finally {
    await setUserPassword(platform);
  }
});

test("a changed password keeps linked identities, and the audit trail lists them", async () => {
  const browser = await linked();
  const change = { currentPassword: PASSWORD, newPassword: "seven grey herons at dusk" };
  try {
    assert.equal((await browser.send("POST", "/auth/password", change)).status, 200);
    assert.deepEqual(await kept("password.change"), [`${provider.issuer} admin`]);
  } finally {
    await setUserPassword(platform);
  }
});

test("a session that has expired before the callback links nothing", async () => {
  const HOUR = 3_600_000;
  const browser = pretendBrowser(platform);
  await browser.signIn(ADMIN, PASSWORD);
  // A session in constant use expires after a week.
  for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
    platform.clock.advance(8 * HOUR);
    assert.equal((await browser.send("GET", "/auth/session")).status, 200);
  }
  platform.clock.advance(8 * HOUR - 60_000);
  const link = await browser.send("POST", "/auth/oidc/link");
  assert.equal(link.status, 200, link.text);
  const back = await signInAtProvider(link.body.data.location, "admin");
  platform.clock.advance(60_000);
  const answer = await browser.send("GET", here(platform, back), undefined, { account: null, redirect: "manual" });
  assert.equal(location(answer), "/login?failure=refused");
  assert.deepEqual(await platform.db.query("select 1 from user_identities"), []);
});

test("a user unlinks an identity unless it is the only way to sign in", async () => {
  const browser = await linked();
  const [one] = (await browser.send("GET", "/auth/identities")).body.data;
  await platform.db.query("update users set password_hash = '' where email = $1", [ADMIN]);
  platform.clock.advance(1_000);
  const kept = await browser.send("DELETE", `/auth/identities/${one.id}`);
  assert.equal(kept.status, 402, kept.text);
  await setUserPassword(platform);
  platform.clock.advance(1_000);
  assert.equal((await browser.send("DELETE", `/auth/identities/${one.id}`)).status, 200);
  assert.equal((await browser.send("DELETE", `/auth/identities/${one.id}`)).status, 404);
});

test("a one-time password does not prevent single sign-on", async () => {
  await linked();
  await platform.db.query("update users set must_change_password = true where email = $1", [ADMIN]);
  const browser = pretendBrowser(platform);
  await signIn(platform, browser, "admin");
  assert.equal((await browser.send("GET", "/auth/session")).body.data.mustChangePassword, false);
  assert.equal((await browser.send("GET", "/ng/api/organizations")).status, 200);
});

test("without a provider the addresses redirect to the sign-in page, and link is refused", async () => {
  const alone = await startTestPlatform();
  try {
    for (const path of ["/auth/oidc/start?returnTo=/x", "/gateway/auth/oidc/callback?state=x&code=y"]) {
      const answer = await alone.send("GET", path, { apiKey: null, account: null, redirect: "manual" });
      assert.deepEqual([answer.status, location(answer), answer.text], [302, "/login?failure=unavailable", ""]);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal((await alone.send("HEAD", path, { apiKey: null, account: null })).status, 405);
    }
    const stranger = await alone.send("POST", "/auth/oidc/link", { apiKey: null, account: null });
    assert.equal(stranger.status, 401, stranger.text);
    await setUserPassword(alone);
    const { headers } = await createSession(alone);
    const link = await alone.send("POST", "/auth/oidc/link", { apiKey: null, account: null, headers });
    assert.deepEqual([link.status, link.body.code], [402, "FEATURE_UNAVAILABLE"]);
  } finally {
    await alone.stop();
  }
});

test("a provider that does not answer is reported, and asked again the next time", async () => {
  const nowhere = await startTestPlatform({
    oidc: {
      issuer: "http://127.0.0.1:1",
      clientId: "x",
      clientSecret: undefined,
      scopes: "openid",
      name: "X",
      linkByEmail: false,
    },
  });
  try {
    const answer = await nowhere.send("GET", "/auth/oidc/start", { apiKey: null, account: null, redirect: "manual" });
    assert.equal(location(answer), "/login?failure=unavailable");
  } finally {
    await nowhere.stop();
  }
});
