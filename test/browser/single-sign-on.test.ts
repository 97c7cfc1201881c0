/** Single sign-on in a real browser with a real provider: linked once, then signed in with a button. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { startIdentityProvider, type TestProvider } from "../support/services/identity-provider.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { ADMIN, setUserPassword, PASSWORD } from "../support/sessions.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;

let platform: TestPlatform;
let provider: TestProvider;
let browser: Chromium;
before(async () => {
  if ("missing" in found) return;
  provider = await startIdentityProvider();
  const { issuer, clientId, clientSecret } = provider;
  platform = await startTestPlatform({
    oidc: { issuer, clientId, clientSecret, scopes: "openid email", name: "Example", linkByEmail: false },
  });
  provider.allow(`${platform.url}/auth/oidc/callback`);
  await setUserPassword(platform);
  browser = await startChromium(found.path);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await provider?.stop();
});

/** Signs in at the provider's pages and gives consent. */
async function throughProvider(): Promise<void> {
  const { page } = browser;
  await page.waitForURL(`${provider.issuer}/**`);
  if (await page.locator("input[name=login]").count()) {
    await page.locator("input[name=login]").fill("maria");
    await page.locator("input[name=password]").fill("x");
    await page.locator("button[type=submit]").click();
  }
  await page.locator("button[type=submit]").click();
}

test(
  "a link is created on the account page; sign-in then uses it and returns to the requested address",
  { skip },
  async () => {
    const { page, context } = browser;
    await page.goto(`${platform.url}/login`);
    await page.getByLabel("E-mail").fill(ADMIN);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Password", { exact: true }).press("Enter");
    await page.getByRole("button", { name: "Link Example" }).click();
    await throughProvider();
    await page.locator("#identities li", { hasText: "maria" }).waitFor();
    assert.equal(page.url(), `${platform.url}/login`);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "You are signed out." }).waitFor();
    await context.clearCookies();
    await page.goto(`${platform.url}/login?returnTo=%2Fgraphql-explorer`);
    await page.getByRole("link", { name: "Sign in with Example" }).click();
    await throughProvider();
    await page.waitForURL(`${platform.url}/graphql-explorer`);
    await page.goto(`${platform.url}/login`);
    await page.getByRole("heading", { name: "Signed in as admin" }).waitFor();
    await page.locator("#sessions li", { hasText: "by single sign-on" }).waitFor();
    const names = (await context.cookies(platform.url)).map(({ name }) => name);
    assert.ok(names.includes("railhead_session") && !names.includes("railhead_sign_in"), names.join());
  },
);

test("an unlinked account of the provider gets a message", { skip }, async () => {
  const { page, context } = browser;
  await platform.db.query("delete from user_identities");
  await context.clearCookies();
  await page.goto(`${platform.url}/login`);
  await page.getByRole("link", { name: "Sign in with Example" }).click();
  await throughProvider();
  await page.getByRole("alert").filter({ hasText: "That account is not linked with a user yet." }).waitFor();
});
