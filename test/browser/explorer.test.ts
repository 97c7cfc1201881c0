/** The GraphQL explorer in a real browser: it works, loads only from its server, and does not store the key. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { getVariableValues, Kind, parse, validate } from "graphql";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { create, made, projectYaml } from "../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;

let platform: TestPlatform;
let browser: Chromium;
/** Errors of the browser: failing scripts, and requests that the policy forbids. */
const complaints: string[] = [];
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  if ("missing" in found) return;
  browser = await startChromium(found.path);
  browser.page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
  browser.page.on("pageerror", (error) => complaints.push(error.message));
});
after(async () => {
  await browser?.close();
  await platform?.stop();
});

test("it is public, under both prefixes, with a policy that allows only this server", async () => {
  for (const path of ["/graphql-explorer", "/gateway/graphql-explorer"]) {
    const answer = await platform.send("GET", path, { apiKey: null });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; connect-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(answer.text, /https?:|<script>|style="|onclick/);
  }
});

test("every sample and the operations of the curl commands are valid in the current schema", async () => {
  const { samples, curlOf } = await import(
    new URL("../../src/platform/graphql/explorer/samples.js", import.meta.url).href
  );
  const commands = ["create", "update"].map((kind) =>
    JSON.parse(/--form-string 'query=(.*)'/.exec(curlOf(kind, ""))?.[1] ?? ""),
  );
  for (const { query, variables } of [...samples, ...commands]) {
    const document = parse(query);
    const { schema } = platform.platform;
    assert.deepEqual(validate(schema, document), [], query);
    const [operation] = document.definitions;
    assert.ok(operation?.kind === Kind.OPERATION_DEFINITION);
    assert.deepEqual(getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors, undefined);
  }
});

test("a typed key and Ctrl+Enter run the sample; the response and the schema are shown", { skip }, async () => {
  const { page } = browser;
  for (const path of ["/graphql-explorer", "/gateway/graphql-explorer"]) {
    await page.goto(`${platform.url}${path}`);
    await page.getByLabel("API key").fill(platform.apiKey);
    assert.equal(await page.getByLabel("Account id").inputValue(), platform.accountId);
    await page.getByLabel("Query", { exact: true }).press("Control+Enter");
    await page.locator("#status", { hasText: "HTTP 200" }).waitFor();
    const shown = JSON.parse((await page.locator("#result").textContent()) ?? "");
    assert.equal(shown.data.applications.nodes[0].name, "The shop");
    assert.equal(shown.data.applications.pageInfo.total, 1);
    await page.getByRole("button", { name: "Query", exact: true }).click();
    await page
      .getByRole("listitem")
      .filter({ hasText: /^applications\(/ })
      .waitFor();
    await page.getByLabel("Find").fill("pageinfo");
    await page.getByRole("button", { name: "PageInfo", exact: true }).first().click();
    await page.getByRole("listitem").filter({ hasText: "hasMore: Boolean" }).waitFor();
  }
});

test("refusals and errors are shown", { skip }, async () => {
  const { page } = browser;
  await page.goto(`${platform.url}/graphql-explorer`);
  await page.getByLabel("Account id").fill(platform.accountId);
  await page.getByLabel("API key").fill("wrong");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator("#status", { hasText: "HTTP 401" }).waitFor();
  assert.match((await page.locator("#result").textContent()) ?? "", /INVALID_TOKEN/);
  // The browser logs every 401 to its console.
  assert.match(complaints.splice(0).join("\n"), /401/);
  await page.getByLabel("Variables (JSON)").fill("{");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator("#status", { hasText: "The variables are not JSON." }).waitFor();
});

test(
  "encrypted files: get and delete are among the samples, create and update are described as multipart requests",
  { skip },
  async () => {
    const { page } = browser;
    await page.goto(`${platform.url}/graphql-explorer`);
    const samples = await page.getByLabel("Sample").locator("option").allTextContents();
    for (const name of ["Encrypted file by id", "Encrypted file by name", "Delete an encrypted file"])
      assert.ok(samples.includes(name), name);
    await page.getByLabel("Sample").selectOption("Delete an encrypted file");
    assert.match(await page.getByLabel("Query", { exact: true }).inputValue(), /deleteSecret\(input: \$secret\)/);
    await page.getByText("Create or update an encrypted file").click();
    await page.getByText("goes through the multipart request").waitFor();
    const command = (await page.locator("#create-file").textContent()) ?? "";
    assert.match(command, /--form 'file=@/);
    const query = JSON.parse(/--form-string 'query=(.*)'/.exec(command)?.[1] ?? "");
    assert.equal(query.variables.secret.secretType, "ENCRYPTED_FILE");
    assert.match((await page.locator("#update-file").textContent()) ?? "", /updateSecret/);
  },
);

test(
  "no request went to another host, the browser reported no error, and the key is only in its field",
  { skip },
  async () => {
    const { page, context, requested } = browser;
    assert.ok(requested.length > 10);
    for (const url of requested) assert.ok(url.startsWith(`${platform.url}/`) || url === "data:,", url);
    assert.deepEqual(complaints, []);
    await page.goto(`${platform.url}/graphql-explorer`);
    await page.getByLabel("API key").fill(platform.apiKey);
    const kept = await page.evaluate(
      "JSON.stringify([localStorage, sessionStorage, location.href, document.body.innerText])",
    );
    assert.ok(!String(kept).includes(platform.apiKey));
    assert.deepEqual(await context.cookies(), []);
    await page.reload();
    assert.equal(await page.getByLabel("API key").inputValue(), "");
  },
);
