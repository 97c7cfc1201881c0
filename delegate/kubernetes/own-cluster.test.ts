/** The delegate's own identity in a cluster: from a kubeconfig, or from the pod that it runs in. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestCluster, TOKEN, type TestCluster } from "../../test/support/services/kubernetes-api.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import { connectDelegate, createPlace } from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";
import { readOwnCluster } from "./own-cluster.ts";

let cluster: TestCluster;
const folder = mkdtempSync(join(tmpdir(), "railhead-test-identity-"));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
before(async () => {
  cluster = await startTestCluster();
  write("ca.crt", cluster.files.ca);
  write("token", `${TOKEN}\n`);
  write("client.pem", cluster.files.clientCertificate);
  write("client.key", cluster.files.clientKey);
});
after(async () => {
  rmSync(folder, { recursive: true });
  await cluster?.stop();
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
type Parts = { readonly cluster?: object; readonly user?: object; readonly more?: object };
const kubeconfig = ({ cluster: inCluster = {}, user = { token: TOKEN }, more = {} }: Parts = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "here",
  contexts: [
    { name: "other", context: { cluster: "gone", user: "gone" } },
    { name: "here", context: { cluster: "c", user: "u", namespace: "web" } },
  ],
  clusters: [{ name: "c", cluster: { server: cluster.url, "certificate-authority": "ca.crt", ...inCluster } }],
  users: [{ name: "u", user }],
  ...more,
});
// JSON is valid YAML.
const readConfig = (config: unknown) =>
  readOwnCluster({ KUBECONFIG: write("config", typeof config === "string" ? config : JSON.stringify(config)) });

test("a pod's service account", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "6443" };
  const access = { ca: cluster.files.ca, credential: { kind: "token", token: TOKEN } };
  assert.deepEqual(readOwnCluster(env, folder), { server: "https://10.0.0.1:6443", ...access });
  const six = readOwnCluster({ KUBERNETES_SERVICE_HOST: "fd00::1", KUBECONFIG: "" }, folder);
  assert.equal(six?.server, "https://[fd00::1]:443");
});

test("a delegate outside of a cluster has no identity", () => assert.equal(readOwnCluster({}, folder), undefined));

test("a kubeconfig with files or data, a token or a client certificate", () => {
  const { ca, clientCertificate, clientKey } = cluster.files;
  const token = { kind: "token", token: TOKEN };
  assert.deepEqual(readConfig(kubeconfig()), { server: cluster.url, ca, credential: token });
  assert.deepEqual(readConfig(kubeconfig({ user: { tokenFile: "token", token: "old" } }))?.credential, token);
  const data = { "certificate-authority": "none", "certificate-authority-data": base64(ca) };
  assert.equal(readConfig(kubeconfig({ cluster: data }))?.ca, ca);
  const files = { "client-certificate": join(folder, "client.pem"), "client-key": "client.key" };
  const both = readConfig(kubeconfig({ user: files }))?.credential;
  assert.ok(both?.kind === "certificate" && both.certificate === clientCertificate);
  const inData = { "client-certificate-data": base64(clientCertificate), "client-key-data": base64(clientKey) };
  assert.deepEqual(readConfig(kubeconfig({ user: inData }))?.credential, both);
});

test("an identity that cannot be used is named without a path and without a credential", () => {
  const missing = join(folder, "missing");
  for (const [read, message] of [
    [() => readOwnCluster({ KUBERNETES_SERVICE_HOST: "h" }, missing), /CA file of the delegate's pod cannot be read/],
    [() => readOwnCluster({ KUBECONFIG: missing }), /kubeconfig cannot be read \(ENOENT\)/],
    [() => readOwnCluster({ KUBECONFIG: "config" }), /not an absolute path/],
    [() => readOwnCluster({ KUBECONFIG: "/a:/b" }), /names several files/],
    [() => readConfig(`token: "${TOKEN}`), /is not YAML/],
    [() => readConfig("[]"), /has no valid content/],
    [() => readConfig({ ...kubeconfig(), users: 1 }), /has no valid users/],
    [() => readConfig(kubeconfig({ more: { "current-context": "other" } })), /no cluster or no user/],
    [() => readConfig(kubeconfig({ cluster: { "insecure-skip-tls-verify": true } })), /'insecure-skip-tls-verify'/],
    [() => readConfig(kubeconfig({ cluster: { server: "http://c" } })), /server without https/],
    [() => readConfig(kubeconfig({ user: { exec: { command: "/bin/true" } } })), /uses 'exec'/],
    [() => readConfig(kubeconfig({ user: {} })), /neither a token nor a client certificate/],
    [() => readConfig(kubeconfig({ user: { tokenFile: "none" } })), /tokenFile cannot be read/],
  ] as const)
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof Unreached, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes(folder) && !error.message.includes(TOKEN), error.message);
      return true;
    });
});

test("a delegate tests a cluster with its own identity", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const config = write("own", JSON.stringify(kubeconfig()));
  const delegate = await connectDelegate(server, place, { ownCluster: () => readOwnCluster({ KUBECONFIG: config }) });
  try {
    const spec = { credential: { type: "InheritFromDelegate" }, delegateSelectors: ["tester"] };
    const finished = server.next((message) => message.kind === "finished");
    const work = { kind: "connection" as const, type: "K8sCluster", spec, secrets: [], timeoutMs: 20_000 };
    server.run(work, { task: newTaskId(), epoch: 1 });
    const end = await finished;
    assert.ok(end.kind === "finished");
    assert.deepEqual(end.outcome, { kind: "tested", fault: null });
    assert.equal(cluster.requests.at(-1)?.user, "system:serviceaccount:web:deployer");
  } finally {
    await delegate.stop();
    await server.close();
    place.remove();
  }
});
