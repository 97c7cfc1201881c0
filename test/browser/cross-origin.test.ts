/** A page of another origin sends GraphQL and REST requests from a real browser. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { findChromium, startChromium, type Chromium } from "../support/services/chromium.ts";
import { create, made, projectYaml } from "../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";

const found = await findChromium();
const skip = "missing" in found ? found.missing : false;

/** The script of the page: the form of docs/contract.md, and other requests of pages. */
const PAGE = `<!doctype html><title>Elsewhere</title><script>
function form(parts) {
  const made = new FormData();
  for (const [name, value] of Object.entries(parts)) made.append(name, value);
  return made;
}
const byForm = (url, parts) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.withCredentials = false;
  request.open("POST", url);
  request.onload = () => resolve([request.status, JSON.parse(request.responseText)]);
  request.onerror = () => reject(new Error("the browser does not show the answer"));
  request.send(form(parts));
});
async function byFetch(url, options) {
  const response = await fetch(url, options);
  return [response.status, await response.json()];
}
const withCookies = (url, parts) =>
  fetch(url, { method: "POST", body: form(parts), credentials: "include" }).then(() => "shown", () => "hidden");
</script>`;

let platform: TestPlatform;
let pages: Server;
let browser: Chromium;
before(async () => {
  if ("missing" in found) return;
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  pages = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE);
  });
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  browser = await startChromium(found.path);
  await browser.page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
});
after(async () => {
  await browser?.close();
  pages?.close();
  await platform?.stop();
});

const QUERY = "query{applications(limit: 10) {nodes {name}}}";
const FOUND = { data: { applications: { nodes: [{ name: "The shop" }] } } };
const address = (path = "/gateway/api/graphql"): string => `${platform.url}${path}?accountId=${platform.accountId}`;

/** Calls a function of the page. */
const call = (name: string, ...args: readonly unknown[]): Promise<unknown> =>
  browser.page.evaluate(`${name}(...${JSON.stringify(args)})`);

test("the browser form: XMLHttpRequest with FormData, no headers, withCredentials false", { skip }, async () => {
  for (const path of ["/gateway/api/graphql", "/api/graphql", "/gateway/api/graphql-api"])
    assert.deepEqual(await call("byForm", address(path), { query: QUERY, "x-api-key": platform.apiKey }), [200, FOUND]);
});

test("JSON with x-api-key and with a bearer token, after a preflight", { skip }, async () => {
  for (const credential of [{ "x-api-key": platform.apiKey }, { authorization: `Bearer ${platform.apiKey}` }]) {
    const headers = { "content-type": "application/json", ...credential };
    const body = JSON.stringify({ query: QUERY, variables: null });
    assert.deepEqual(await call("byFetch", address(), { method: "POST", headers, body }), [200, FOUND]);
  }
});

test("a page also reads refusals, and REST with If-Match, each method after its preflight", { skip }, async () => {
  const [status, body] = (await call("byForm", address(), { query: "{__typename}" })) as [number, unknown];
  assert.equal(status, 401);
  assert.match(JSON.stringify(body), /"INVALID_TOKEN"/);
  const url = `${platform.url}/gateway/ng/api/projects/nothing?accountIdentifier=${platform.accountId}&orgIdentifier=default`;
  for (const method of ["GET", "PUT", "DELETE"]) {
    const headers = { "x-api-key": platform.apiKey, "if-match": "1", "content-type": "application/json" };
    const options = { method, headers, ...(method === "PUT" ? { body: "{}" } : {}) };
    const [refused] = (await call("byFetch", url, options)) as [number, unknown];
    assert.ok([400, 404].includes(refused), `${method}: ${refused}`);
  }
});

test(
  "a cookie for the server is no credential, and a response to a request with cookies is hidden from its page",
  { skip },
  async () => {
    await browser.context.addCookies([{ name: "x-api-key", value: platform.apiKey, url: platform.url }]);
    const [status] = (await call("byForm", address(), { query: "{__typename}" })) as [number, unknown];
    assert.equal(status, 401);
    // Browsers reject `*` for requests with credentials.
    assert.equal(await call("withCookies", address(), { query: QUERY, "x-api-key": platform.apiKey }), "hidden");
  },
);
