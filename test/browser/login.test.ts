/** The sign-in page in a real browser: from the one-time password to signing out everywhere. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD, createSession } from "../support/sessions.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;
const CHOSEN = "seven grey herons at dusk";

let platform: TestPlatform;
let browser: Chromium;
/** Errors of the browser: failing scripts, and requests that the policy forbids. */
const complaints: string[] = [];
before(async () => {
  platform = await startTestPlatform();
  await setUserPassword(platform);
  await platform.db.query("update users set must_change_password = true where email = $1", [ADMIN]);
  if ("missing" in found) return;
  browser = await startChromium(found.path);
  browser.page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  browser.page.on("pageerror", (error) => complaints.push(error.message));
});
after(async () => {
  await browser?.close();
  await platform?.stop();
});

const heading = (name: string | RegExp) => browser.page.getByRole("heading", { name, level: 1 }).waitFor();

async function signIn(password: string): Promise<void> {
  const { page } = browser;
  await page.getByLabel("E-mail").fill(ADMIN);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Password", { exact: true }).press("Enter");
}

test("it is public, under both prefixes, with a policy that allows only this server", async () => {
  for (const path of ["/login", "/gateway/login", "/login/login.js", "/login/login.css"]) {
    const answer = await platform.send("GET", path, { apiKey: null, account: null });
    assert.equal(answer.status, 200);
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; connect-src 'self'/);
    assert.match(policy, /form-action 'none'; frame-ancestors 'none'$/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(answer.headers.get("x-frame-options"), "DENY");
    assert.doesNotMatch(answer.text, /https?:|<script>|style="|onclick|innerHTML/);
    assert.equal(answer.headers.getSetCookie().length, 0);
  }
});

test(
  "a wrong password is refused; the one-time password leads to the choice of a new one, and then to the account",
  { skip },
  async () => {
    const { page } = browser;
    await page.goto(`${platform.url}/login`);
    await heading("Sign in");
    await signIn("not this one");
    await page.getByRole("alert").filter({ hasText: "The e-mail or the password is wrong." }).waitFor();
    assert.match(complaints.splice(0).join(), /401/);
    await signIn(PASSWORD);
    await heading("Choose a password");
    assert.equal(await page.getByLabel("Current password").inputValue(), PASSWORD);
    await page.reload();
    await heading("Choose a password");
    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByLabel("New password", { exact: true }).fill("Password1234");
    await page.getByLabel("New password, again").fill("Password1234");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByRole("alert").filter({ hasText: "is among those that are tried first" }).waitFor();
    assert.match(complaints.splice(0).join(), /400/);
    await page.getByLabel("New password", { exact: true }).fill(CHOSEN);
    await page.getByLabel("New password, again").fill(`${CHOSEN}!`);
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByRole("alert").filter({ hasText: "differs between the two fields" }).waitFor();
    await page.getByLabel("New password, again").fill(CHOSEN);
    await page.getByRole("button", { name: "Change password" }).click();
    await heading("Signed in as admin");
    await page.getByRole("status").filter({ hasText: "Your password was changed." }).waitFor();
    assert.equal(await page.title(), "Your account · Railhead");
    assert.equal(await page.evaluate("document.activeElement.id"), "account-title");
  },
);

test("no script reads the session, and the page stores nothing of it", { skip }, async () => {
  const { page, context } = browser;
  const cookies = await context.cookies();
  assert.deepEqual(cookies.map(({ name }) => name).toSorted(), ["railhead_device", "railhead_session"]);
  for (const cookie of cookies) assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate("document.cookie"), "");
  assert.equal(await page.evaluate("localStorage.length + sessionStorage.length"), 0);
});

test("the sessions are listed; another one is ended, then all of them", { skip }, async () => {
  const { page } = browser;
  const other = await createSession(platform);
  await page.goto(`${platform.url}/gateway/login`);
  await heading("Signed in as admin");
  const list = page.locator("#sessions li");
  await list.nth(1).waitFor();
  assert.equal(await list.count(), 2);
  assert.equal(await list.filter({ hasText: "Chrome on Linux (this one)" }).count(), 1);
  await page.getByRole("button", { name: "End: a test" }).click();
  await page.getByRole("status").filter({ hasText: "That session has ended." }).waitFor();
  assert.equal(await list.count(), 1);
  platform.clock.advance(1_000);
  const gone = await platform.send("GET", "/ng/api/organizations", { apiKey: null, headers: other.headers });
  assert.equal(gone.status, 401);
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("status").filter({ hasText: "You are signed out everywhere." }).waitFor();
  await heading("Sign in");
  assert.deepEqual(await platform.db.query("select 1 from sessions"), []);
  assert.deepEqual(
    (await browser.context.cookies()).map(({ name }) => name),
    ["railhead_device"],
  );
});

test("after signing in it goes to the requested address, on this server only", { skip }, async () => {
  const { page } = browser;
  for (const [asked, path] of [
    ["/graphql-explorer?x=1", "/graphql-explorer?x=1"],
    ["https://example.com/", "/login"],
    ["//example.com/", "/login"],
    ["/\\example.com/", "/login"],
    ["data:text/html,x", "/login"],
    ["\\/example.com", "/login"],
    ["/\t/example.com", "/login"],
  ] as const) {
    await browser.context.clearCookies();
    await page.goto(`${platform.url}/login?returnTo=${encodeURIComponent(asked)}`);
    await heading("Sign in");
    await signIn(CHOSEN);
    await (path === "/login" ? heading("Signed in as admin") : page.waitForURL(`${platform.url}${path}`));
    assert.ok(page.url().startsWith(`${platform.url}${path}`), `${asked}: ${page.url()}`);
  }
});

test("no request went to another host, and the browser reported no error", { skip }, () => {
  assert.ok(browser.requested.length > 10);
  for (const url of browser.requested) assert.ok(url.startsWith(`${platform.url}/`) || url === "data:,", url);
  assert.deepEqual(complaints, []);
});

test(
  "an invitation: its token leaves the address, and the chosen password signs in and returns",
  { skip },
  async () => {
    const { page } = browser;
    const { body } = await platform.graphql(
      'mutation { createUser(input: { email: "ada@example.com", name: "Ada <b>L</b>" }) { user { id } } }',
    );
    const made = await platform.send("POST", `/auth/users/${body.data.createUser.user.id}/invitation`);
    const link = new URL(made.body.data.link);
    link.search = "?returnTo=/api-docs";
    const asked: string[] = [];
    const note = (request: { url: () => string; headers: () => Record<string, string> }): void =>
      void asked.push(request.url(), request.headers()["referer"] ?? "");
    page.on("request", note);
    // A session of the administrator, who made the link, is in this browser.
    await page.goto(`${platform.url}/login`);
    await page.goto(link.href);
    await heading(/Welcome to Railhead/);
    await page.getByText("You are invited as Ada <b>L</b> (ada@example.com).").waitFor();
    assert.equal(page.url(), `${platform.url}/login?returnTo=/api-docs`);
    await page.getByLabel("Your password", { exact: true }).fill("Password1234");
    await page.getByLabel("Your password, again").fill("Password1234");
    await page.getByRole("button", { name: "Set password and sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "is among those that are tried first" }).waitFor();
    assert.match(complaints.splice(0).join(), /400/);
    await page.getByLabel("Your password", { exact: true }).fill(CHOSEN);
    await page.getByLabel("Your password, again").fill(CHOSEN);
    await page.getByRole("button", { name: "Set password and sign in" }).click();
    await page.waitForURL(`${platform.url}/api-docs`);
    page.off("request", note);
    const token = link.hash.split("=")[1] ?? assert.fail();
    assert.ok(asked.length > 0 && asked.every((text) => !text.replace(/#.*/, "").includes(token)), asked.join("\n"));
    await page.goto(link.href);
    await page.getByRole("alert").filter({ hasText: "The invitation is not valid" }).waitFor();
    assert.match(complaints.splice(0).join(), /401/);
  },
);
