/** Attacks on the web interface in a real browser, against the real server with a real delegate. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { create, JSON_TYPE, made, projectYaml } from "../support/contract.ts";
import { findChromium } from "../support/services/chromium.ts";
import { createSession, PASSWORD } from "../support/sessions.ts";
import { skip, startWeb, type WebTest } from "../support/web.ts";

const SHOP = "/projects/default/shop";
const MARKUP = `</script><img src=x onerror="globalThis.attacked=1"><svg onload=globalThis.attacked=1>`;

let web: WebTest;
/** Pages of another site. The path of a request is its whole answer. */
let elsewhere: Server;
let otherSite: string;
before(async () => {
  if (skip) return;
  web = await startWeb({ delegate: true });
  await made(create.project(web.platform, projectYaml()));
  elsewhere = createServer((asked, response) => {
    const text = decodeURIComponent(new URL(asked.url ?? "", "http://elsewhere").searchParams.get("html") ?? "");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(text);
  });
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  // The same host as the server's: browsers send even SameSite=Strict cookies from one port to another.
  otherSite = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
after(async () => {
  elsewhere?.close();
  await web?.stop();
});

const openElsewhere = (html: string, site = otherSite) =>
  web.page.goto(`${site}/?html=${encodeURIComponent(encodeURIComponent(html))}`);

const countOf = async (sql: string): Promise<number> => (await web.platform.db.query(sql)).length;

test("forms and texts of another site change nothing, and a session alone is no credential", { skip }, async () => {
  const { page, platform, open, complaints } = web;
  const url = `${platform.url}/gateway/api/graphql?accountId=${platform.accountId}`;
  const query = `mutation { createApplication(input: { name: "forged" }) { application { id } } }`;
  const field = (name: string, value: string) => `<input name='${name}' value='${value.replaceAll("'", "&#39;")}'>`;
  for (const type of ["multipart/form-data", "application/x-www-form-urlencoded"]) {
    await openElsewhere(`<form method=post enctype='${type}' action='${url}'>${field("query", query)}</form>`);
    await Promise.all([
      page.waitForURL(({ pathname }) => pathname.endsWith("/graphql")),
      page.evaluate("document.forms[0].submit()"),
    ]);
  }
  // A form of plain text whose body is JSON.
  const [name, value] = JSON.stringify({ query, x: "=" }).split("=") as [string, string];
  await openElsewhere(`<form method=post enctype='text/plain' action='${url}'>${field(name, value)}</form>`);
  await Promise.all([
    page.waitForURL(({ pathname }) => pathname.endsWith("/graphql")),
    page.evaluate("document.forms[0].submit()"),
  ]);
  const body = JSON.stringify({ query });
  await openElsewhere("<title>Elsewhere</title>");
  for (const contentType of ["text/plain", JSON_TYPE]) {
    const options = { method: "POST", mode: "no-cors", credentials: "include", headers: { contentType }, body };
    await page.evaluate(`fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).catch(() => 0)`);
  }
  // Even a page of this server needs the token of the session, which the cookie does not contain.
  await open("/account/projects", "Projects");
  const statuses = await page.evaluate(`(async () => {
    const token = (await (await fetch("/auth/session")).json()).data.csrfToken;
    const form = new FormData();
    form.append("query", ${JSON.stringify(query)});
    const send = (headers, body) => fetch(${JSON.stringify(url)}, { method: "POST", headers, body }).then((it) => it.status);
    const json = { "content-type": "application/json" };
    return [
      await send(json, ${JSON.stringify(body)}),
      await send({ "x-csrf-token": token }, form),
      await send({ ...json, "x-csrf-token": token }, ${JSON.stringify(body.replace("forged", "Own project"))}),
    ];
  })()`);
  assert.deepEqual(statuses, [403, 401, 200]);
  assert.equal(await countOf("select 1 from projects where name = 'forged'"), 0);
  assert.equal(await countOf("select 1 from projects where name = 'Own project'"), 1);
  complaints();
});

test("a page of another origin reads nothing of the session, under any name", { skip }, async () => {
  const { page, platform, complaints } = web;
  const paths = ["/auth/session", `/ng/api/projects?accountIdentifier=${platform.accountId}`, "/"];
  const read = `async (base) => {
    const found = [];
    for (const path of ${JSON.stringify(paths)})
      for (const credentials of ["include", "omit"])
        found.push(await fetch(base + path, { credentials }).then((it) => it.text(), () => "hidden"));
    return found;
  }`;
  const looksAlike = otherSite.replace("127.0.0.1", "localhost");
  for (const [site, base] of [
    [otherSite, platform.url],
    [looksAlike, platform.url],
    [looksAlike, platform.url.replace("127.0.0.1", "localhost")],
  ] as const) {
    await openElsewhere("<title>Elsewhere</title>", site);
    const found = (await page.evaluate(`(${read})(${JSON.stringify(base)})`)) as string[];
    assert.doesNotMatch(found.join(), /csrfToken|admin@|The shop/, site);
    assert.ok(found.includes("hidden"), site);
  }
  // A sandboxed frame has the origin null.
  const inner = `<script>(${read})("${platform.url}").then((it) => parent.postMessage(it, "*"))</script>`;
  await openElsewhere(
    `<script>addEventListener("message", (event) => (globalThis.heard = event.data))</script>
     <iframe sandbox="allow-scripts" srcdoc="${inner.replaceAll('"', "&quot;")}"></iframe>`,
  );
  await page.waitForFunction("globalThis.heard");
  const heard = (await page.evaluate("globalThis.heard")) as string[];
  assert.doesNotMatch(heard.join(), /csrfToken|admin@|The shop/);
  assert.ok(heard.includes("hidden"));
  complaints();
});

test("no other site shows a page of this server in a frame", { skip }, async () => {
  const { page, platform, complaints } = web;
  for (const path of ["/", "/login", `${SHOP}/pipelines`, "/account/access/users"]) {
    await openElsewhere(`<iframe src="${platform.url}${path}"></iframe>`);
    await page.locator("iframe").waitFor();
    const frame = page.frames()[1];
    await frame?.waitForLoadState();
    assert.equal(await frame?.locator("#root, main").count(), 0, path);
  }
  complaints();
});

test("sign-in leads to this server only, and begins a session of its own", { skip }, async () => {
  const { page, platform, browser, complaints } = web;
  const fixed = { name: "railhead_session", value: "chosen-by-another", url: platform.url };
  for (const asked of [
    "https://example.com/",
    "//example.com/",
    "/\\example.com/",
    "\\/example.com",
    "/\t/example.com",
    // oxlint-disable-next-line no-script-url -- the address that must not be opened
    "javascript:globalThis.attacked=1",
    "data:text/html,x",
    "/%0d%0aset-cookie:x=1",
  ]) {
    await browser.context.clearCookies();
    await browser.context.addCookies([fixed]);
    await page.goto(`${platform.url}/login?returnTo=${encodeURIComponent(asked)}`);
    await page.getByLabel("E-mail").fill("admin@railhead.local");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Password", { exact: true }).press("Enter");
    await page.waitForURL((url) => url.pathname !== "/login");
    assert.equal(new URL(page.url()).origin, platform.url, asked);
    const cookies = await browser.context.cookies();
    const session = cookies.filter(({ name }) => name === "railhead_session");
    assert.equal(session.length, 1);
    assert.notEqual(session[0]?.value, fixed.value);
  }
  assert.equal(await page.evaluate("globalThis.attacked"), undefined);
  complaints();
});

const NOISE = [
  String.raw`printf 'before\n'`,
  // A link of OSC 8, a title, the clipboard, DCS, and moves that hide the line above on a terminal.
  String.raw`printf '\033]8;;javascript:alert(1)\033\\click\033]8;;\033\\\n'`,
  String.raw`printf '\033]0;attacked\007\033]52;c;YXR0YWNrZWQ=\007after-osc\n'`,
  String.raw`printf '\033P1$r0m\033\\after-dcs\n'`,
  String.raw`printf 'rm -rf hidden-line\n\033[1A\033[2K\033[8minvisible\033[0m\n'`,
  String.raw`printf 'user\342\200\256gnp.exe \342\200\213zero\n'`,
  String.raw`printf '%s\n' '${MARKUP.replaceAll("'", "")}'`,
  String.raw`head -c 30000 /dev/zero | tr '\0' x; printf '\nlast-line\n'`,
].join("\n");

const noisyPipeline = `pipeline:
  name: Noise
  identifier: noise
  orgIdentifier: default
  projectIdentifier: shop
  stages:
    - stage:
        name: One
        identifier: one
        type: Custom
        spec:
          execution:
            steps:
              - step:
                  name: Noise
                  identifier: noise
                  type: ShellScript
                  spec:
                    shell: Bash
                    onDelegate: true
                    source:
                      type: Inline
                      spec:
                        script: |
${NOISE.split("\n")
  .map((line) => `                          ${line}`)
  .join("\n")}
`;

test("escapes of terminals, hidden letters and markup in a log stay harmless text", { skip }, async () => {
  const { page, platform, open, signIn, complaints } = web;
  await signIn();
  await made(create.pipeline(platform, noisyPipeline));
  const { planExecution } = await made(create.run(platform, "noise"));
  await open(`${SHOP}/executions/${planExecution.uuid}`, /Noise #1/);
  await page.locator("header:has(h1)").getByText("Success", { exact: true }).waitFor();
  await page
    .getByRole("region", { name: "Graph of stages and steps" })
    .getByRole("button", { name: /Noise/ })
    .last()
    .click();
  const log = page.getByRole("region", { name: "Log", exact: true });
  await log.getByText("last-line").waitFor();
  const text = await log.innerText();
  // Nothing is hidden: each line is there, and what cannot be seen has its number.
  for (const line of ["click", "after-osc", "after-dcs", "rm -rf hidden-line", "invisible", "user<202E>gnp.exe"])
    assert.ok(text.includes(line), `${line} is not in the log`);
  assert.ok(text.includes(MARKUP));
  // Escapes are removed whole, with the texts that they carry.
  assert.doesNotMatch(text, /<1B>|\]0;|\]8;|\]52;|\[2K|YXR0YWNrZWQ/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000B-\u001F\u007F\u202A-\u202E\u200B]/);
  assert.equal(await log.locator("a, img, svg").count(), 0);
  assert.doesNotMatch(await page.title(), /attacked/);
  const [wide, visible] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  )) as [number, number];
  assert.ok(wide <= visible, `a long line widens the page to ${wide} px`);
  assert.equal(await page.evaluate("globalThis.attacked"), undefined);
  assert.deepEqual(complaints(), []);
});

test("a copied command is the request, whatever the address contains", { skip }, async () => {
  const { page, platform, browser, open, complaints } = web;
  await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: platform.url });
  const typed = `'; $(touch /tmp/attacked) \`id\` "\r\nx-api-key: forged\r\n' @/etc/passwd`;
  const search = new URLSearchParams({ q: typed, service: JSON.stringify([typed]) });
  await open(`${SHOP}/executions?${search.toString()}`, "Executions");
  await page.getByRole("button", { name: "Copy as curl or GraphQL" }).click();
  await page.getByRole("menuitem", { name: "List executions" }).first().click();
  await page.getByText("Copied.").waitFor();
  const command = (await page.evaluate("navigator.clipboard.readText()")) as string;
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const env = { ...process.env, KEY: "k" };
  const words = execFileSync("bash", ["-c", script], { env, encoding: "utf8" }).split("\0").slice(0, -1);
  const [url = "", body = "", ...others] = words.toReversed();
  const headers = ["-H", "x-api-key: k", "-H", "content-type: application/json"];
  assert.deepEqual(others.toReversed(), ["-X", "POST", ...headers, "--data-raw"]);
  assert.deepEqual(JSON.parse(body).serviceIdentifiers, [typed]);
  assert.equal(new URL(url).origin, platform.url);
  assert.equal(new URL(url).searchParams.get("searchTerm"), typed);
  assert.deepEqual(complaints(), []);
});

/** Sends the path as it is. Browsers resolve dots before. */
async function getRaw(path: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const { hostname, port } = new URL(web.platform.url);
  const sent = request({ hostname, port, path, headers: { accept: "text/html" } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode, text };
}

test("addresses of files reach only the files of the interface", { skip }, async () => {
  const { page, open, complaints } = web;
  await open("/account/projects", "Projects");
  const up = ["..", "%2e%2e", "..%2f", "%2e%2e%2f", "..%5c", "..%c0%af", "....//", "%252e%252e%252f"];
  const paths = [
    ...up.flatMap((step) => [
      `/assets/${`${step}/`.repeat(6)}etc/passwd`,
      `/assets/${step}/${step}/${step}/package.json`,
      `/assets/${step}/index.html`,
    ]),
    "/assets//etc/passwd",
    "/assets/%00",
    "/assets/index.html%00.js",
    "/icon.svg/../../package.json",
    "/login/..%2f..%2f..%2fpackage.json",
  ];
  for (const path of paths) {
    const { status, text } = await getRaw(path);
    assert.ok(status === 404 || status === 400, `${path}: ${status}`);
    assert.doesNotMatch(text, /root:|"dependencies"|<!doctype/i, path);
  }
  const statuses = (await page.evaluate(
    `Promise.all(${JSON.stringify(paths)}.map((path) => fetch(path, { redirect: "error" }).then((it) => it.status, () => 0)))`,
  )) as number[];
  assert.ok(!statuses.includes(500), statuses.join());
  const traversal = paths.filter((path) => /passwd|package/.test(path));
  const texts = (await page.evaluate(
    `Promise.all(${JSON.stringify(traversal)}.map((path) => fetch(path).then((it) => it.text(), () => "")))`,
  )) as string[];
  assert.doesNotMatch(texts.join(), /root:|"dependencies"/);
  complaints();
});

test("after signing out, the button Back shows nothing of the session", { skip }, async () => {
  const { platform } = web;
  const found = await findChromium();
  assert.ok("path" in found);
  // Browsers keep left pages as they are; only those under test do not.
  const browser = await chromium.launch({
    executablePath: found.path,
    chromiumSandbox: process.getuid?.() !== 0,
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
    args: ["--disable-gpu", "--no-first-run"],
  });
  try {
    const context = await browser.newContext();
    const { headers } = await createSession(platform, "admin@railhead.local");
    const [name = "", value = ""] = headers.cookie.split("=");
    await context.addCookies([{ name, value, url: platform.url, httpOnly: true, sameSite: "Strict" }]);
    const page = await context.newPage();
    await page.goto(`${platform.url}/account/access/users`);
    await page.getByRole("link", { name: "admin", exact: true }).waitFor();
    await page.getByRole("button", { name: /admin@railhead.local/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.evaluate("void ((globalThis.isLeft = true), history.back())");
    await page.waitForFunction("globalThis.isLeft === undefined");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.doesNotMatch(await page.content(), /admin@railhead/);
  } finally {
    await browser.close();
  }
});

/** Gives every stored name that the database lets contain markup such a name. */
async function renameEverything(): Promise<readonly string[]> {
  const { db } = web.platform;
  const tables = await db.query<{ table: string }>(
    `select table_name as table from information_schema.columns
      where table_schema = current_schema() and column_name = 'name' and data_type = 'text'
        and table_name not in ('migrations', 'schema_migrations')`,
  );
  const renamed: string[] = [];
  for (const { table } of tables) {
    const done = await db.query(`update "${table}" set name = $1 returning 1`, [MARKUP]).catch(() => []);
    if (done.length > 0) renamed.push(table);
  }
  await db.query("update delegates set host = $1, tags = array[$1], declared_tags = array[$1]", [MARKUP]);
  return renamed;
}

const PAGES = [
  ["/", 1],
  ["/profile", 1],
  ["/account/projects", 1],
  ["/account/organizations", 1],
  ["/account/delegates", 1],
  ["/account/access/users", 1],
  ["/account/access/groups", 1],
  ["/account/access/service-accounts", 1],
  ["/account/access/roles", 1],
  ["/account/access/permissions", 1],
  [SHOP, 1],
  [`${SHOP}/executions`, 0],
  [`${SHOP}/pipelines`, 1],
  [`${SHOP}/pipelines/noise`, 1],
  [`${SHOP}/environments`, 1],
  ["/account/audit", 0],
] as const;

test("what people wrote stays text on every page, and texts cannot become code", { skip }, async () => {
  const { page, platform, open, complaints } = web;
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.environment(platform, "staging", inShop));
  const post = (path: string, body: object): Promise<unknown> =>
    made(platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) }));
  await post("/ng/api/user-groups", { identifier: "team", name: "team" });
  await post("/ng/api/serviceaccount", { identifier: "ci", name: "ci" });
  await post("/authz/api/roles", { identifier: "own", name: "own", permissions: [] });
  const renamed = await renameEverything();
  assert.ok(renamed.length >= 8, renamed.join());
  platform.clock.advance(2_000);
  for (const [path, atLeast] of PAGES) {
    await page.goto(`${platform.url}${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (atLeast > 0) await page.getByText("<img src=x").first().waitFor();
    assert.equal(await page.locator("#root img, #root svg[onload], #root script").count(), 0, path);
    assert.equal(await page.evaluate("globalThis.attacked"), undefined, path);
  }
  for (const path of [`/projects/default/${encodeURIComponent(MARKUP)}`, `/nothing/${encodeURIComponent(MARKUP)}`]) {
    await page.goto(`${platform.url}${path}`);
    assert.equal(await page.locator("img").count(), 0, path);
    assert.equal(await page.evaluate("globalThis.attacked"), undefined, path);
  }
  complaints();
  // A mistake of the interface would still be no code: the policy refuses markup, handlers and scripts.
  await open("/account/projects", "Projects");
  const refusals = await page.evaluate(`["markup", "handler", "script"].map((kind) => {
    try {
      if (kind === "markup") document.body.innerHTML = '<img src=x onerror="globalThis.attacked=1">';
      if (kind === "handler") {
        document.body.setAttribute("onclick", "globalThis.attacked=1");
        document.body.click();
      }
      if (kind === "script") {
        const script = document.createElement("script");
        script.textContent = "globalThis.attacked=1";
        document.body.append(script);
      }
      return "ran";
    } catch (error) {
      return error.name;
    }
  })`);
  assert.equal(await page.evaluate("globalThis.attacked"), undefined, JSON.stringify(refusals));
  assert.deepEqual((refusals as string[]).slice(0, 1), ["TypeError"]);
  complaints();
});
