/** The test of a connection against a real registry, and against what is none. */
import assert from "node:assert/strict";
import { createServer as secureServer } from "node:https";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as plainServer, type AddressInfo, type Server } from "node:net";
import { after, before, test } from "node:test";
import {
  registryIsMissing,
  startRegistry,
  TOKEN_SERVICE,
  USER,
  type Registry,
} from "../../../test/support/services/registry.ts";
import {
  createCertificate,
  startTokenServer,
  type Certificate,
  type TokenServer,
} from "../../../test/support/services/token-server.ts";
import { allowAnyAddress, allowPublicAddresses, type MayReach } from "../../platform/outgoing/reach.ts";
import type { OutgoingResponse } from "../../platform/outgoing/get.ts";
import { challengeIn } from "./challenge.ts";
import { containerRegistry } from "./container-registry.ts";
import { runTest } from "./run-test.ts";
import type { Fault } from "./type.ts";

const skip = (await registryIsMissing()) ?? false;
const SECRET = "p4ss-of-this-test";

const withPassword = { type: "UsernamePassword", spec: { username: USER.name, usernameRef: null, passwordRef: "p" } };
const specOf = (registryUrl: string, auth: object = { type: "Anonymous" }) => ({
  registryUrl,
  providerType: "Other",
  auth,
  delegateSelectors: [],
});

type How = { readonly password?: string; readonly mayReach?: MayReach; readonly signal?: AbortSignal };

/** Tests the connection; with a password when one is given. */
async function find(registryUrl: string, how: How = {}): Promise<Fault | undefined> {
  const { password, mayReach = allowAnyAddress, signal = AbortSignal.timeout(20_000) } = how;
  const fault = await runTest(
    {
      type: "ContainerRegistry",
      spec: specOf(registryUrl, password === undefined ? undefined : withPassword),
      secrets: password === undefined ? [] : [{ reference: "p", value: password }],
    },
    { mayReach, signal },
  );
  if (password !== undefined)
    assert.ok(!JSON.stringify(fault ?? "").includes(password), "the password is in the fault");
  return fault;
}

const reasonOf = async (fault: Promise<Fault | undefined>): Promise<unknown> => {
  const { reason, code } = (await fault) ?? { reason: "none", code: 0 };
  return [reason, code];
};

const opened: Server[] = [];
async function listening<S extends Server>(server: S): Promise<{ server: S; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(server);
  return { server, port: (server.address() as AddressInfo).port };
}
const serve = async (answer: RequestListener): Promise<string> =>
  `http://127.0.0.1:${(await listening(createServer(answer))).port}`;

let certificate: Certificate;
before(async () => void (certificate = await createCertificate()));
after(async () => {
  for (const server of opened) {
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function")
      server.closeAllConnections();
    server.close();
  }
  await certificate?.remove();
});

test("a registry that is open to all", { skip }, async () => {
  const registry = await startRegistry();
  try {
    const root = registry.url.replace(/v2\/$/, "");
    for (const url of [registry.url, root, root.slice(0, -1), registry.url.slice(0, -1), `${registry.url}?a=b#c`])
      assert.equal(await find(url), undefined, url);
    assert.equal(await find(registry.url, { password: SECRET }), undefined, "it asks for no password");
    assert.deepEqual(await reasonOf(find(`${root}other/`)), ["Not a registry", 404]);
  } finally {
    await registry.stop();
  }
});

test("a registry that requires a password", { skip }, async () => {
  const registry = await startRegistry({ kind: "password" });
  try {
    assert.equal(await find(registry.url, { password: USER.password }), undefined);
    assert.deepEqual(await reasonOf(find(registry.url, { password: SECRET })), ["Authentication", 401]);
    assert.match((await find(registry.url))?.message ?? "", /asks for a user name and a password/);
  } finally {
    await registry.stop();
  }
});

async function withTokens(
  open: "anyone" | "user",
  use: (registry: Registry, tokens: TokenServer) => Promise<void>,
): Promise<void> {
  const tokens = await startTokenServer(certificate, open);
  const registry = await startRegistry({ kind: "token", realm: tokens.realm, certificate: certificate.certificate });
  try {
    await use(registry, tokens);
  } finally {
    await registry.stop();
    await tokens.stop();
  }
}

test("a registry that requires a token, anonymous and for a user", { skip }, async () => {
  await withTokens("anyone", async (registry, tokens) => {
    assert.equal(await find(registry.url), undefined);
    assert.equal(tokens.asked[0]?.authorization, undefined);
    assert.equal(tokens.asked[0]?.query, `?service=${TOKEN_SERVICE}`);
    assert.equal(await find(registry.url, { password: USER.password }), undefined);
    assert.equal(tokens.asked.length, 2);
  });
  await withTokens("user", async (registry, tokens) => {
    assert.equal(await find(registry.url, { password: USER.password }), undefined);
    assert.deepEqual(await reasonOf(find(registry.url, { password: SECRET })), ["Authentication", 401]);
    assert.deepEqual(await reasonOf(find(registry.url)), ["Authentication", 401]);
    // The registry may be reached, the place that it sends us to for the token may not.
    const { host } = new URL(registry.url);
    const mayReach = allowPublicAddresses([host]);
    const before = tokens.asked.length;
    assert.deepEqual(await reasonOf(find(registry.url, { mayReach })), ["Address not allowed", 0]);
    assert.equal(tokens.asked.length, before);
    assert.equal(
      await find(registry.url, {
        password: USER.password,
        mayReach: allowPublicAddresses([host, new URL(tokens.realm).host]),
      }),
      undefined,
    );
  });
});

test("other servers are reported as not being a registry", async () => {
  const page = await serve((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello"));
  const down = await serve((_, response) => response.writeHead(503).end());
  const odd = await serve((_, response) => response.writeHead(401, { "www-authenticate": "Negotiate" }).end());
  const large = await serve((_, response) => response.end("x".repeat(70_000)));
  const garbage = plainServer((socket) => socket.end("no HTTP at all\r\n\r\n"));
  assert.deepEqual(await reasonOf(find(page)), ["Not a registry", 200]);
  assert.deepEqual(await reasonOf(find(down)), ["Registry failure", 503]);
  assert.deepEqual(await reasonOf(find(odd)), ["Not a registry", 401]);
  assert.deepEqual(await reasonOf(find(large)), ["Answer too large", 0]);
  assert.deepEqual(await reasonOf(find(`http://127.0.0.1:${(await listening(garbage)).port}`)), ["Not HTTP", 0]);
});

test("an unreachable registry is reported with the reason", async () => {
  const { server, port } = await listening(createServer());
  server.close();
  const refused = await find(`http://127.0.0.1:${port}`);
  assert.equal(refused?.message, `127.0.0.1:${port} refused the connection.`);
  assert.deepEqual(await reasonOf(find("http://no-such-host.invalid/v2/")), ["Unknown host", 0]);
  const files = { key: readFileSync(certificate.key), cert: readFileSync(certificate.certificate) };
  const secure = (await listening(secureServer(files, (_, response) => response.end("{}")))).port;
  const untrusted = await find(`https://localhost:${secure}/v2/`);
  assert.equal(untrusted?.reason, "TLS failure");
  assert.match(untrusted?.message ?? "", /certificate of localhost:\d+ is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT/);
  const plain = new URL(await serve((_, response) => response.end("{}"))).port;
  assert.deepEqual(await reasonOf(find(`https://127.0.0.1:${plain}/v2/`)), ["TLS failure", 0]);
  const cut = (await listening(plainServer((socket) => socket.resetAndDestroy()))).port;
  assert.deepEqual(await reasonOf(find(`http://127.0.0.1:${cut}/`)), ["Connection lost", 0]);
});

test("a server that does not answer ends the test at the timeout", async () => {
  const time = new AbortController();
  // Says nothing; and says the beginning of an answer, and no more.
  const silent = await serve(() => time.abort());
  assert.deepEqual(await reasonOf(find(silent, { signal: time.signal })), ["Timeout", 0]);
  const later = new AbortController();
  const slow = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{", () => later.abort());
  });
  assert.deepEqual(await reasonOf(find(slow, { signal: later.signal })), ["Timeout", 0]);
});

test("a redirect or a challenge elsewhere does not get the password", async () => {
  const seen: (string | undefined)[] = [];
  const thief = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401, { "www-authenticate": "Basic" }).end();
  });
  const first = await serve((_, response) => response.writeHead(307, { location: `${thief}/v2/` }).end());
  assert.deepEqual(await reasonOf(find(first, { password: SECRET })), ["Redirect", 401]);
  const late = await serve((request, response) => {
    if (request.headers.authorization === undefined) response.writeHead(401, { "www-authenticate": "Basic" }).end();
    else response.writeHead(307, { location: `${thief}/v2/` }).end();
  });
  assert.deepEqual(await reasonOf(find(late, { password: SECRET })), ["Authentication", 401]);
  assert.deepEqual(seen, [undefined, undefined]);
  const loop = await serve((_, response) => response.writeHead(302, { location: "/v2/" }).end());
  assert.deepEqual(await reasonOf(find(loop)), ["Redirects", 0]);
  const odd = await serve((_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end());
  assert.deepEqual(await reasonOf(find(odd)), ["Address", 0]);
});

test("a password for a TLS address is not sent without TLS", async () => {
  const asked: string[] = [];
  const headers = { "www-authenticate": 'Bearer realm="http://tokens.example.com/token",service="x"' };
  const get = async (url: string): Promise<OutgoingResponse> => {
    asked.push(url);
    return { url, status: 401, headers, body: "" };
  };
  const fault = await containerRegistry.test(specOf("https://registry.example.com/v2/", withPassword), {
    get,
    getDirectly: () => assert.fail("registries get nothing directly"),
    secret: () => SECRET,
    ownCluster: () => assert.fail("registries have no cluster"),
  });
  assert.match(fault?.message ?? "", /at tokens\.example\.com without TLS/);
  assert.deepEqual(asked, ["https://registry.example.com/v2/"]);
});

test("name and password are shown as references", () => {
  for (const [spec, references] of [
    [{ username: "me", usernameRef: null, passwordRef: "account.pass-word" }, ["account.pass-word"]],
    [{ username: null, usernameRef: "org.user", passwordRef: "p" }, ["org.user", "p"]],
  ] as const) {
    const written = { ...specOf("http://x/"), auth: { type: "UsernamePassword", spec } };
    const kept = containerRegistry.schema.parse(written);
    assert.deepEqual(containerRegistry.wire(kept), written);
    assert.deepEqual(
      containerRegistry.secrets(kept).map(({ reference }) => reference),
      references,
    );
  }
});

test("a secret that cannot be read is named", async () => {
  const test = { type: "ContainerRegistry", spec: specOf("http://127.0.0.1:9/", withPassword), secrets: [] };
  const fault = await runTest(test, { mayReach: allowAnyAddress, signal: AbortSignal.timeout(20_000) });
  assert.deepEqual(fault, { reason: "Secret", message: "The secret [p] cannot be read.", code: 0 });
});

test("challenges as registries write them", () => {
  const bearer = (text: string | undefined): unknown => challengeIn(text);
  assert.deepEqual(bearer('Bearer realm="https://a/t",service="s, \\"x\\"",scope="a:b:c"'), {
    scheme: "bearer",
    realm: "https://a/t",
    params: [
      ["service", 's, "x"'],
      ["scope", "a:b:c"],
    ],
  });
  assert.deepEqual(bearer("bearer Realm=https://a/t"), { scheme: "bearer", realm: "https://a/t", params: [] });
  assert.deepEqual(bearer('Basic realm="x"'), { scheme: "basic" });
  assert.deepEqual(bearer('Negotiate, Basic realm="x"'), { scheme: "basic" });
  for (const none of [undefined, "", "Negotiate abc", "Digest realm=x"]) assert.equal(bearer(none), undefined);
});
