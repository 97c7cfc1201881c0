/** The page that sets up SCIM by signed tokens: settings, check, and a token of the provider, with real keys. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  signToken,
  signingKey,
  startKeyServer,
  type KeyServer,
  type SigningKey,
} from "../support/services/key-server.ts";
import { assertAccessible, assertFitsNarrow, skip, startWeb, type WebTest } from "../support/web.ts";

const HOSTILE = `<img src=x onerror=alert(1)> \u202Edesrever ${"long".repeat(40)}`;

let web: WebTest;
let server: KeyServer;
let key: SigningKey;
before(async () => {
  if (skip) return;
  server = await startKeyServer();
  key = await signingKey("RS256", { kid: "rsa-1" });
  server.serve([key.jwk]);
  web = await startWeb({ allowPrivateAddresses: ["127.0.0.0/8"] });
});
after(async () => {
  await web?.stop();
  await server?.close();
});

const token = (claims: object): Promise<string> =>
  signToken(
    key.privateKey,
    { alg: "RS256", kid: "rsa-1" },
    { appid: "railhead", exp: Math.floor(Date.now() / 1_000) + 300, ...claims },
  );

test("from nothing to an accepted token of the provider, whose refusals have a reason", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  await open("/account/settings", "Settings");
  await page.getByRole("link", { name: "SCIM" }).click();
  await page.getByText("Nothing is set yet.").waitFor();
  await page.getByRole("button", { name: "Create one with these permissions" }).click();
  const dialog = page.getByRole("dialog", { name: "Create a service account for the directory" });
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Create service account" }).click();
  await dialog.waitFor({ state: "hidden" });
  assert.equal(await page.getByLabel("Service account", { exact: true }).inputValue(), "directory");
  await page.getByLabel("Address of the key set").fill("ftp://keys.example.com");
  await page.getByLabel("Claim", { exact: true }).fill("appid");
  await page.getByLabel("Value of the claim").fill("railhead");
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByText("It must be an http or https address without a user name in it.").waitFor();
  await page.getByText("Without a value: address of the key set.").waitFor();
  await page.getByText("Service account directory exists.").waitFor();
  await page.getByLabel("Address of the key set").fill(server.url);
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByText("All settings have a value.").waitFor();
  await page.getByText("The key set has 1 key for signatures:").waitFor();
  await page.getByText("rsa-1", { exact: true }).waitFor();
  const base = `${platform.url}/ng/api/scim/account/${platform.accountId}`;
  await page.getByRole("group", { name: "Base URL" }).getByText(base).waitFor();
  const verify = async (text: string): Promise<void> => {
    await page.getByLabel("Token", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Verify token" }).click();
  };
  await verify(await token({ appid: "another" }));
  await page.getByRole("alert").getByText("its claim appid is another one").waitFor();
  await page.getByRole("group", { name: "Content of the token" }).getByText('"another"').waitFor();
  await verify(await token({ exp: 1 }));
  await page.getByRole("alert").getByText("it has expired").waitFor();
  await assertAccessible(page);
  await assertFitsNarrow(page);
  const accepted = await token({});
  await verify(accepted);
  await page.getByText("The token is accepted.").waitFor();
  // What the page says holds: SCIM takes the token, and the service account has the permissions.
  const headers = { authorization: `Bearer ${accepted}` };
  const { status, text } = await platform.send("GET", `/ng/api/scim/account/${platform.accountId}/Users`, {
    ...{ apiKey: null, headers },
  });
  assert.equal(status, 200, text);
  assert.ok(!page.url().includes(accepted));
  assert.deepEqual(complaints(), []);
});

test("keys of a hostile server stay text, and its failure is told", { skip }, async () => {
  const { page, open, platform, complaints } = web;
  server.serve([{ ...key.jwk, kid: HOSTILE }]);
  const settings = [{ identifier: "scim_jwt_token_jwks_keys_url", value: `${server.url}?other`, updateType: "UPDATE" }];
  const saved = await platform.send("PUT", "/ng/api/settings", {
    ...{ body: JSON.stringify(settings), contentType: "application/json" },
  });
  assert.equal(saved.status, 200, saved.text);
  await open("/account/settings/scim", "SCIM");
  await page.getByText(/onerror/).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  await assertFitsNarrow(page);
  await page.getByLabel("Address of the key set").fill("http://127.0.0.1:1/keys");
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByText(/The key set could not be fetched/).waitFor();
  await page.getByLabel("Service account", { exact: true }).fill("nothing");
  await page.getByLabel("Claim", { exact: true }).focus();
  await page.getByRole("button", { name: "Save and check" }).click();
  await page.getByText("The account has no service account nothing.").waitFor();
  await assertAccessible(page);
  assert.deepEqual(complaints(), []);
});

test("who may not edit how others sign in is not offered the page", { skip }, async () => {
  const { page, open, platform, signIn, complaints } = web;
  await platform.addUser("_account_viewer");
  const [viewer] = await platform.db.query<{ email: string }>("select email from users where name like 'user %'");
  await signIn(viewer?.email);
  await open("/account/settings", "Settings");
  await page.getByRole("link", { name: "Mail" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "SCIM" }).count(), 0);
  assert.deepEqual(complaints(), []);
});
