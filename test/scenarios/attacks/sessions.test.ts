/**
 * Attack classes 6 and 28 for sessions: a browser sends its cookies with requests of any page. Such a request has no
 * effect without the session's anti-forgery token and an allowed origin.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { World } from "../../contract/world.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../support/platform.ts";
import { withExactHeaders } from "../../support/clients/header-sender.ts";
import { ADMIN, createSession, type SessionHeaders } from "../../support/sessions.ts";
import { sendSample, digests, createExamples, samples, type Sample } from "./requests.ts";

let platform: TestPlatform;
let world: World;
let session: SessionHeaders;
const logged: string[] = [];
before(async () => {
  const { Writable } = await import("node:stream");
  const logTo = new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(String(chunk));
      done();
    },
  });
  platform = await startTestPlatform({ logTo });
  world = await createExamples(platform);
  session = (await createSession(platform)).headers;
});
after(() => platform?.stop());

const json = (): readonly Sample[] =>
  samples(world).filter(({ operation, type }) => !operation.public && type !== "multipart/form-data");

/** Sends each operation as a key would succeed with it, with these headers instead. */
async function everywhere(
  headers: Readonly<Record<string, string>>,
  judge: (answer: Answer, what: string) => void,
  but: ReadonlySet<string> = new Set(),
  to: Pick<TestPlatform, "send" | "accountId"> = platform,
) {
  const earlier = await digests(platform);
  let asked = 0;
  for (const sample of json().filter(({ operation }) => !but.has(operation.operationId))) {
    judge(await sendSample(to, sample, { apiKey: null, headers }), sample.operation.operationId);
    asked += 1;
  }
  assert.ok(asked > 50, String(asked));
  assert.deepEqual(await digests(platform), earlier);
}

/** SCIM accepts tokens only: a session is no credential, with any headers. */
const refusedWith =
  (status: number, text: RegExp) =>
  (answer: Answer, what: string): void => {
    const isScim = what.startsWith("scim");
    assert.equal(answer.status, isScim ? 401 : status, `${what}: ${answer.text}`);
    assert.match(answer.text, isScim ? /Token is not valid/ : text, what);
  };

test("a session without its anti-forgery token has no effect in any operation", async () => {
  await everywhere({ cookie: session.cookie }, refusedWith(403, /x-csrf-token/));
});

/** What a browser sends when a person follows a link on a page of the platform. */
const LINK = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
/** Downloads, which change nothing. */
const LINKED = new Set(["execution.logs", "log-service.lines"]);

test("a link needs no token: it saves downloads, and has no effect in any other operation", async () => {
  const browser = withExactHeaders(platform);
  await everywhere({ cookie: session.cookie, ...LINK }, refusedWith(403, /x-csrf-token/), LINKED, browser);
  const linked = json().filter(({ operation }) => LINKED.has(operation.operationId));
  assert.equal(linked.length, LINKED.size);
  const ask = (sample: Sample, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    sendSample(browser, sample, { apiKey: null, headers });
  for (const sample of linked) {
    const what = sample.operation.operationId;
    for (const destination of ["document", "empty"]) {
      const answer = await ask(sample, { cookie: session.cookie, ...LINK, "sec-fetch-dest": destination });
      assert.equal(answer.status, 200, `${what}: ${answer.text}`);
      assert.match(answer.headers.get("content-disposition") ?? "", /^attachment; filename="[\w$.-]+"$/, what);
      assert.equal(answer.headers.get("cache-control"), "no-store", what);
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff", what);
    }
    assert.equal((await ask(sample, LINK)).status, 401, "without a session");
    for (const [name, value] of [
      ["sec-fetch-site", "none"],
      ["sec-fetch-site", "same-site"],
      ["sec-fetch-site", "cross-site"],
      ["sec-fetch-mode", "cors"],
      ["sec-fetch-mode", "no-cors"],
      ["sec-fetch-dest", "iframe"],
      ["sec-fetch-dest", "image"],
      ["sec-fetch-dest", "script"],
      ["origin", "https://example.com"],
    ] as const)
      assert.equal(
        (await ask(sample, { cookie: session.cookie, ...LINK, [name]: value })).status,
        403,
        `${what} ${value}`,
      );
    const { "sec-fetch-site": _, ...withoutSite } = LINK;
    assert.equal((await ask(sample, { cookie: session.cookie, ...withoutSite })).status, 403, what);
    const wrongKey = await sendSample(platform, sample, {
      apiKey: "wrong",
      headers: { cookie: session.cookie, ...LINK },
    });
    assert.equal(wrongKey.status, 401, "with a wrong key");
  }
});

test("the anti-forgery token of another session, or an invalid one, has no effect", async () => {
  const other = (await createSession(platform)).headers;
  for (const token of [
    other["x-csrf-token"],
    "",
    "x".repeat(43),
    `${session["x-csrf-token"]}, ${session["x-csrf-token"]}`,
  ]) {
    const headers = { cookie: session.cookie, "x-csrf-token": token };
    const answer = await platform.send("GET", "/ng/api/organizations", { apiKey: null, headers });
    refusedWith(403, /x-csrf-token/)(answer, token);
  }
});

test("a session with its token has no effect for pages of other origins", async () => {
  await everywhere(
    { ...session, origin: "https://example.com" },
    refusedWith(403, /comes from a page of another site/),
  );
  const { port } = new URL(platform.url);
  const elsewhere = [
    { origin: "null" },
    { origin: `https://127.0.0.1:${port}` },
    { origin: `http://127.0.0.1:${port}.example.com` },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: `http://railhead.localhost:${port}` },
    { origin: platform.url, "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
  ];
  for (const headers of elsewhere)
    for (const path of ["/ng/api/organizations", "/auth/session", "/auth/sessions"]) {
      const answer = await platform.send("GET", path, { apiKey: null, headers: { ...session, ...headers } });
      refusedWith(403, /comes from a page of another site/)(answer, `${path} ${JSON.stringify(headers)}`);
    }
});

/** What a user with a one-time password needs: reading and changing it, and ending sessions. */
const WITH_ONE_TIME = new Set([
  "session.get",
  "password.change",
  "session.end",
  "session.list",
  "session.delete",
  "session.delete-all",
]);

test("with a one-time password every operation is refused except these, and nothing is linked or changed", async () => {
  const change = async (to: boolean): Promise<void> => {
    await platform.db.query("update users set must_change_password = $2 where email = $1", [ADMIN, to]);
    platform.clock.advance(1_000);
  };
  await change(true);
  try {
    await everywhere(session, refusedWith(403, /PASSWORD_EXPIRED/), WITH_ONE_TIME);
    for (const sample of json().filter(({ operation }) => LINKED.has(operation.operationId))) {
      const headers = { cookie: session.cookie, ...LINK };
      refusedWith(403, /PASSWORD_EXPIRED/)(
        await sendSample(withExactHeaders(platform), sample, { apiKey: null, headers }),
        "a link",
      );
    }
    const own = { apiKey: null, headers: session };
    assert.equal((await platform.send("GET", "/auth/sessions", own)).status, 200);
    // The session is accepted; the body is refused.
    assert.equal((await platform.send("POST", "/auth/password", own)).status, 400);
    for (const [method, path, status] of [
      ["DELETE", `/auth/sessions/${(await createSession(platform)).id}`, 200],
      ["POST", "/auth/logout", 200],
      ["DELETE", "/auth/sessions", 200],
    ] as const) {
      const { headers } = await createSession(platform);
      assert.equal((await platform.send(method, path, { apiKey: null, headers })).status, status, path);
    }
  } finally {
    await change(false);
    session = (await createSession(platform)).headers;
  }
});

test("the same request from a page of the platform is answered", async () => {
  const { port } = new URL(platform.url);
  for (const headers of [
    {},
    { origin: platform.url },
    { origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin" },
  ]) {
    const answer = await platform.send("GET", "/ng/api/organizations", {
      apiKey: null,
      headers: { ...session, ...headers },
    });
    assert.equal(answer.status, 200, answer.text);
  }
});

test("a form or plain text never runs by a session, with its token or without", async () => {
  const query = 'mutation { deleteSecret(input: { secretId: "x", secretType: ENCRYPTED_TEXT }) { clientMutationId } }';
  const form = new FormData();
  form.append("query", query);
  const asked = { query, variables: null };
  const ways: readonly SendOptions[] = [
    { body: form },
    { body: JSON.stringify(asked), contentType: "text/plain" },
    { body: new URLSearchParams({ query }).toString(), contentType: "application/x-www-form-urlencoded" },
  ];
  const all = ["/api/graphql", "/gateway/api/graphql", "/gateway/api/graphql-api"].flatMap((path) =>
    [session, { cookie: session.cookie }, { ...session, origin: platform.url }].flatMap((headers) =>
      ways.map((how) => ({ path, how: { ...how, apiKey: null, headers } })),
    ),
  );
  for (const { path, how } of all) {
    const answer = await platform.send("POST", `${path}?accountId=${platform.accountId}`, how);
    const expected = how.body === form ? [401] : [400, 403];
    assert.ok(expected.includes(answer.status), `${how.contentType}: ${answer.status} ${answer.text}`);
    assert.doesNotMatch(answer.text, /deleteSecret/);
  }
});

test("a wrong key stays wrong beside a session, and a valid key does not need the session", async () => {
  for (const apiKey of ["", "pat.x.y.z", `${platform.apiKey}x`]) {
    const answer = await platform.send("GET", "/ng/api/organizations", { apiKey, headers: session });
    assert.equal(answer.status, 401, `${apiKey}: ${answer.text}`);
  }
  const headers = { cookie: session.cookie, origin: "https://example.com" };
  assert.equal((await platform.send("GET", "/ng/api/organizations", { headers })).status, 200);
});

test("a session is accepted only in its cookie: in no token header, address or other cookie", async () => {
  const text = session.cookie.split("=")[1] ?? "";
  const other = (await createSession(platform)).headers.cookie;
  const ways: readonly (readonly [string, SendOptions])[] = [
    ["", { apiKey: text }],
    ["", { apiKey: null, headers: { ...session, cookie: "", authorization: `Bearer ${text}` } }],
    ["", { apiKey: session["x-csrf-token"] }],
    [`?railhead_session=${text}`, { apiKey: null, headers: { "x-csrf-token": session["x-csrf-token"] } }],
    ["", { apiKey: null, headers: { ...session, cookie: `session=${text}` } }],
    ["", { apiKey: null, headers: { ...session, cookie: `__Host-railhead_session=${text}` } }],
    ["", { apiKey: null, headers: { ...session, cookie: `${session.cookie}; ${other}` } }],
    ["", { apiKey: null, headers: { ...session, cookie: `${session.cookie}x` } }],
    ["", { apiKey: null, headers: { ...session, cookie: session.cookie.replace("ses.", "pat.") } }],
  ];
  for (const [query, how] of ways) {
    const answer = await platform.send("GET", `/ng/api/organizations${query}`, how);
    assert.equal(answer.status, 401, `${query} ${JSON.stringify(how)}: ${answer.text}`);
  }
});

test("a session gives no access to another account", async () => {
  const other = await platform.addAccount();
  const answer = await platform.send("GET", "/ng/api/organizations", {
    apiKey: null,
    headers: session,
    account: other.accountId,
  });
  assert.equal(answer.status, 403, answer.text);
});

test("the log contains no session and no anti-forgery token", async () => {
  const token = session["x-csrf-token"];
  await platform.send("GET", `/auth/session?x=${token}`, { apiKey: null, headers: session });
  const secret = session.cookie.split(".").at(-1) ?? "";
  assert.ok(secret.length > 40);
  assert.ok(logged.every((line) => !line.includes(secret) && !line.includes(token)));
});
