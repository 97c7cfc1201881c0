/** The test of a connection against an API server, and against what is none. */
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import {
  PASSPHRASE,
  startTestCluster,
  TOKEN,
  type TestCluster,
} from "../../../test/support/services/kubernetes-api.ts";
import { allowAnyAddress, allowPublicAddresses, type MayReach } from "../../platform/outgoing/reach.ts";
import { Unreached } from "../../platform/outgoing/unreached.ts";
import type { ClusterAccess } from "./cluster-access.ts";
import { kubernetesCluster } from "./kubernetes-cluster.ts";
import { runTest } from "./run-test.ts";
import type { Fault } from "./type.ts";

let cluster: TestCluster;
before(async () => void (cluster = await startTestCluster()));
after(() => cluster?.stop());

const manual = (masterUrl: string, type: string, spec: object) => ({
  credential: { type: "ManualConfig", spec: { masterUrl, auth: { type, spec } } },
  delegateSelectors: [],
});
const withToken = (url: string, caCertRef: string | null = "ca") =>
  manual(url, "ServiceAccount", { serviceAccountTokenRef: "token", caCertRef });
const withKey = (url: string, more: object = {}) =>
  manual(url, "ClientKeyCert", {
    ...{ clientCertRef: "certificate", clientKeyRef: "key", caCertRef: "ca" },
    ...{ clientKeyPassphraseRef: null, clientKeyAlgo: null },
    ...more,
  });

type How = {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly mayReach?: MayReach;
  readonly ownCluster?: () => ClusterAccess | undefined;
};

async function find(spec: object, { secrets = {}, mayReach = allowAnyAddress, ownCluster }: How = {}) {
  const { ca, clientCertificate: certificate, clientKey: key, encryptedClientKey: encrypted } = cluster.files;
  const values = { ca, certificate, key, encrypted, token: TOKEN, passphrase: PASSPHRASE, ...secrets };
  const given = Object.entries(values).map(([reference, value]) => ({ reference, value }));
  const around = { mayReach, signal: AbortSignal.timeout(20_000), ownCluster };
  const fault = await runTest({ type: "K8sCluster", spec, secrets: given }, around);
  for (const { reference, value } of given)
    assert.ok(value === "" || !JSON.stringify(fault ?? "").includes(value), `the secret ${reference} is in the fault`);
  return fault;
}

const reasonOf = async (fault: Promise<Fault | undefined>): Promise<unknown> => {
  const { reason, code } = (await fault) ?? { reason: "none", code: 0 };
  return [reason, code];
};

test("a service account token, with and without blanks around it", async () => {
  const from = cluster.requests.length;
  assert.equal(await find(withToken(cluster.url)), undefined);
  assert.equal(await find(withToken(`${cluster.url}/`), { secrets: { token: `${TOKEN}\n` } }), undefined);
  const asked = cluster.requests.slice(from, from + 2);
  const user = "system:serviceaccount:web:deployer";
  assert.deepEqual(asked, [
    { method: "GET", path: "/version", user },
    { method: "GET", path: "/api", user },
  ]);
});

test("a client certificate; its key may be encrypted", async () => {
  assert.equal(await find(withKey(cluster.url)), undefined);
  assert.equal(cluster.requests.at(-1)?.user, "ada");
  const encrypted = { clientKeyRef: "encrypted", clientKeyPassphraseRef: "passphrase", clientKeyAlgo: "EC" };
  assert.equal(await find(withKey(cluster.url, encrypted)), undefined);
});

test("credentials that the cluster does not accept", async () => {
  assert.deepEqual(await reasonOf(find(withToken(cluster.url), { secrets: { token: "other" } })), [
    "Authentication",
    401,
  ]);
  const other = await startTestCluster();
  try {
    const { clientCertificate: certificate, clientKey: key } = other.files;
    assert.deepEqual(await reasonOf(find(withKey(cluster.url), { secrets: { certificate, key } })), [
      "Authentication",
      401,
    ]);
  } finally {
    await other.stop();
  }
});

test("a cluster that lets everyone read its version is still asked who the user is", async () => {
  const dropping = await startTestCluster({ readsTokens: false });
  try {
    const how = { secrets: { ca: dropping.files.ca } };
    assert.deepEqual(await reasonOf(find(withToken(dropping.url), how)), ["Authentication", 403]);
  } finally {
    await dropping.stop();
  }
});

test("missing permissions: the version may be hidden, the APIs may not", async () => {
  for (const [path, expected] of [
    ["/version", ["none", 0]],
    ["/api", ["Permission", 403]],
  ] as const) {
    const closed = await startTestCluster({ refuse: { [path]: 403 } });
    try {
      assert.deepEqual(
        await reasonOf(find(withToken(closed.url), { secrets: { ca: closed.files.ca } })),
        expected,
        path,
      );
    } finally {
      await closed.stop();
    }
  }
});

test("the certificate of the server is checked, with the CA of the connector only", async () => {
  const from = cluster.requests.length;
  for (const [spec, how] of [
    [withToken(cluster.url, null), {}],
    [withToken(cluster.url), { secrets: { ca: cluster.files.clientCertificate } }],
  ] as const)
    assert.deepEqual(await reasonOf(find(spec, how)), ["TLS failure", 0]);
  assert.equal(cluster.requests.length, from, "nothing was sent");
});

test("secrets that contain something else", async () => {
  const { ca, clientKey } = cluster.files;
  for (const [spec, secrets, message] of [
    [withToken(cluster.url), { token: "two words" }, /\[token\] contains no token/],
    [withToken(cluster.url), { token: "" }, /\[token\] contains no token/],
    [withToken(cluster.url), { ca: clientKey }, /\[ca\] contains no certificate in PEM format/],
    [withToken(cluster.url), { ca: ca.replace(/MII/, "AAA") }, /\[ca\] contains a certificate that cannot be read/],
    [withKey(cluster.url), { key: ca }, /\[key\] contains no private key/],
    [
      withKey(cluster.url),
      { certificate: ca },
      /\[key\] contains another key than the one of the secret \[certificate\]/,
    ],
    [withKey(cluster.url, { clientKeyAlgo: "RSA" }), {}, /\[key\] contains a key of type EC, not RSA/],
    [withKey(cluster.url, { clientKeyRef: "encrypted" }), {}, /\[encrypted\] contains a key that the given passphrase/],
    [
      withKey(cluster.url, { clientKeyRef: "encrypted", clientKeyPassphraseRef: "passphrase" }),
      { passphrase: "wrong one" },
      /\[encrypted\] contains a key that the given passphrase/,
    ],
  ] as const) {
    const fault = await find(spec, { secrets });
    assert.equal(fault?.reason, "Credentials", JSON.stringify(fault));
    assert.match(fault.message, message);
  }
  const missing = await find(
    manual(cluster.url, "ServiceAccount", { serviceAccountTokenRef: "none", caCertRef: null }),
  );
  assert.deepEqual([missing?.reason, missing?.message], ["Secret", "The secret [none] cannot be read."]);
});

test("addresses without an API server", async () => {
  const from = async (listener: RequestListener): Promise<unknown> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      // Stored specs have https only; without TLS the test needs no further certificate.
      return await reasonOf(find(withToken(`http://127.0.0.1:${port}`)));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };
  assert.deepEqual(await from((_, response) => response.end("hello")), ["Not a cluster", 200]);
  assert.deepEqual(await from((_, response) => response.end('{"kind":"Other"}')), ["Not a cluster", 200]);
  assert.deepEqual(await from((_, response) => response.writeHead(404).end("{}")), ["Not a cluster", 404]);
  assert.deepEqual(await from((_, response) => response.writeHead(503).end()), ["Cluster failure", 503]);
  const redirect: RequestListener = (_, response) =>
    response.writeHead(302, { location: `${cluster.url}/version` }).end();
  const asked = cluster.requests.length;
  assert.deepEqual(await from(redirect), ["Redirect", 302]);
  assert.equal(cluster.requests.length, asked, "the redirect was not followed");
});

test("the server reaches no private address", async () => {
  const asked = cluster.requests.length;
  assert.deepEqual(await reasonOf(find(withToken(cluster.url), { mayReach: allowPublicAddresses([]) })), [
    "Address not allowed",
    0,
  ]);
  assert.equal(cluster.requests.length, asked);
});

test("the delegate's own identity; the server has none", async () => {
  const spec = { credential: { type: "InheritFromDelegate" }, delegateSelectors: ["lab"] };
  const own = { server: cluster.url, ca: cluster.files.ca, credential: { kind: "token", token: TOKEN } } as const;
  assert.equal(await find(spec, { ownCluster: () => own }), undefined);
  const none = (): never => {
    throw new Unreached("No identity", "The delegate has none.");
  };
  assert.deepEqual(await reasonOf(find(spec, { ownCluster: none })), ["No identity", 0]);
  assert.deepEqual(await reasonOf(find(spec)), ["No identity", 0]);
});

test("the secrets are shown as references with their paths", () => {
  assert.deepEqual(kubernetesCluster.secrets(withKey("https://c", { clientKeyPassphraseRef: "org.p" })), [
    { path: ["credential", "spec", "auth", "spec", "clientCertRef"], reference: "certificate" },
    { path: ["credential", "spec", "auth", "spec", "clientKeyRef"], reference: "key" },
    { path: ["credential", "spec", "auth", "spec", "caCertRef"], reference: "ca" },
    { path: ["credential", "spec", "auth", "spec", "clientKeyPassphraseRef"], reference: "org.p" },
  ]);
  assert.deepEqual(
    kubernetesCluster.secrets({ credential: { type: "InheritFromDelegate" }, delegateSelectors: ["a"] }),
    [],
  );
});
