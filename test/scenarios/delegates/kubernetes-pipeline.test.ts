/** Steps with a cluster, from the connector to kubectl: a platform, a real delegate and an API server. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, settingsFor, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { JSON_TYPE, made } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import {
  addPipeline,
  createPipelines,
  detailOf,
  logOf,
  type PipelineSketch,
  startRun,
  waitForEnd,
} from "../../support/runs.ts";
import { dumpOf } from "../../support/secrets.ts";
import { kubectlIsMissing } from "../../support/services/kubectl.ts";
import { startTestCluster, TOKEN, type TestCluster } from "../../support/services/kubernetes-api.ts";
import { until } from "../../support/until.ts";

const needsKubectl = { skip: (await kubectlIsMissing()) ?? false };
let platform: TestPlatform;
let cluster: TestCluster;
const delegates: Delegate[] = [];
const place = createPlace();
const logged: string[] = [];

before(async () => {
  const log = new PassThrough();
  log.on("data", (line: Buffer) => logged.push(line.toString()));
  [platform, cluster] = await Promise.all([startTestPlatform({ logTo: log }), startTestCluster()]);
  await createPipelines(platform);
  await join("real", place);
  const { ca, clientCertificate, clientKey } = cluster.files;
  for (const [name, value] of Object.entries({ token: TOKEN, ca, certificate: clientCertificate, key: clientKey }))
    await createText(name, value);
});
after(async () => {
  for (const delegate of delegates) await delegate.stop();
  await Promise.all([platform?.stop(), cluster?.stop()]);
  place.remove();
});

async function join(name: string, at: ReturnType<typeof createPlace>): Promise<void> {
  const socketUrl = `${platform.url.replace("http", "ws")}/delegate/connect`;
  const { ca } = cluster.files;
  const ownCluster = () => ({ server: cluster.url, ca, credential: { kind: "token", token: TOKEN } as const });
  delegates.push(
    await startDelegate(
      { ...settingsFor({ socketUrl }, at), token: await platform.delegateToken(), name, tags: [name] },
      { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog(), ownCluster },
    ),
  );
}

const CREATE = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
async function createText(name: string, value: string, more: object = {}): Promise<void> {
  const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value, ...more } };
  const { body, text } = await platform.graphql(CREATE, { input });
  assert.ok(body.data?.createSecret, text);
}

async function saveConnector(method: "POST" | "PUT", identifier: string, spec: object): Promise<void> {
  const connector = { name: identifier, identifier, type: "K8sCluster", spec };
  const body = JSON.stringify({ connector });
  await made(platform.send(method, "/ng/api/connectors", { contentType: JSON_TYPE, body }));
}

const manual = (type: string, spec: object) => ({
  delegateSelectors: ["real"],
  credential: { type: "ManualConfig", spec: { masterUrl: cluster.url, auth: { type, spec } } },
});
const byToken = (token = "account.token") =>
  manual("ServiceAccount", { serviceAccountTokenRef: token, caCertRef: "account.ca" });
const inherited = (...delegateSelectors: readonly string[]) => ({
  credential: { type: "InheritFromDelegate" },
  delegateSelectors,
});

const on = (connector: string, namespace = "web") => ({
  connectorRef: `account.${connector}`,
  namespace,
  releaseName: "release-<+INFRA_KEY_SHORT_ID>",
});

async function run(sketch: PipelineSketch) {
  await addPipeline(platform, sketch);
  const id = await startRun(platform, sketch.id);
  const status = await waitForEnd(platform, id);
  return { id, status, log: await logOf(platform, id), detail: () => detailOf(platform, id) };
}

const APPLY = `cat > map.yaml <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { colour: blue }
END
kubectl apply --validate=false -f map.yaml
kubectl get configmap settings -o 'jsonpath={.data.colour}'
echo " $PLATFORM_KUBE_NAMESPACE $PLATFORM_KUBE_RELEASE_NAME <+infra.connectorRef>"
cat "$KUBECONFIG"`;

test("kubectl reaches the cluster of the connector, and no secret is shown or stored", needsKubectl, async () => {
  await saveConnector("POST", "by_token", byToken());
  const { status, log } = await run({
    id: "applies",
    variables: { env: "Staging" },
    cluster: on("by_token", "web-<+pipeline.variables.env.toLowerCase()>"),
    steps: [{ id: "apply", script: APPLY }],
  });
  assert.equal(status, "SUCCESS", log);
  const key = createHash("sha1").update("s-e-account.by_token-web-staging").digest("hex").slice(0, 6);
  assert.match(log, new RegExp(`^configmap/settings created\nblue web-staging release-${key} account\\.by_token\n`));
  assert.deepEqual(cluster.configMaps.get("web-staging/settings"), { colour: "blue" });
  assert.match(log, /"token": "\*{14}"/);
  for (const kept of [log, await dumpOf(platform), logged.join("\n")])
    for (const part of [TOKEN, Buffer.from(TOKEN).toString("base64").slice(0, 20)]) assert.ok(!kept.includes(part));
  const delivered = await platform.db.query<{ id: string }>(
    "select resource_id as id from audit_entries where operation = 'secret.deliver' order by resource_id",
  );
  assert.deepEqual(
    delivered.map(({ id }) => id),
    ["ca", "token"],
  );
});

test("a client certificate is used, and the connector's selectors choose the delegate", needsKubectl, async () => {
  const refs = { clientCertRef: "account.certificate", clientKeyRef: "account.key", caCertRef: "account.ca" };
  await saveConnector("POST", "by_key", manual("ClientKeyCert", refs));
  const script = "kubectl get --raw /version > /dev/null && echo reached";
  const { status, log } = await run({ id: "with_key", cluster: on("by_key"), steps: [{ id: "x", script }] });
  assert.deepEqual([status, log], ["SUCCESS", "reached\n"]);
  assert.equal(cluster.requests.at(-1)?.user, "ada");
});

test("outside of the usage scope of a connector's secret the step fails before anything is sent", async () => {
  const usageScope = {
    appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
  };
  await createText("prod_token", TOKEN, { usageScope });
  await saveConnector("POST", "for_production", byToken("account.prod_token"));
  const { status, log, detail } = await run({ id: "outside", cluster: on("for_production"), steps: [{ id: "x" }] });
  assert.deepEqual([status, log], ["FAILED", ""]);
  const { message, failureTypeList } = (await detail()).step("x")["failureInfo"];
  assert.match(message, /secret \[prod_token\] may not be used here/);
  assert.deepEqual(failureTypeList, ["AUTHORIZATION_ERROR"]);
});

test("a delegate's identity is used only where its connector names the delegate", needsKubectl, async () => {
  await saveConnector("POST", "own", inherited("real"));
  const script = "kubectl get --raw /version > /dev/null && echo reached";
  const { log } = await run({ id: "inherits", cluster: on("own"), steps: [{ id: "x", script }] });
  assert.equal(log, "reached\n");

  await saveConnector("POST", "changing", inherited("later"));
  await addPipeline(platform, { id: "waits", cluster: on("changing"), steps: [{ id: "x", selectors: ["later"] }] });
  const id = await startRun(platform, "waits");
  await until(
    () => platform.db.query<{ selectors: string[] }>("select selectors from tasks where status = 'ready'"),
    (rows) => rows.length === 1,
  );
  await saveConnector("PUT", "changing", inherited("later", "safer"));
  const other = createPlace();
  try {
    await join("later", other);
    assert.equal(await waitForEnd(platform, id), "FAILED");
    const { message } = (await detailOf(platform, id)).step("x")["failureInfo"];
    assert.match(message, /Connector \[account\.changing\] was changed after the execution started/);
  } finally {
    await delegates.pop()?.stop();
    other.remove();
  }
});

test("an expression that comes to no namespace fails the step", async () => {
  const variables = { env: "No Namespace" };
  const infrastructure = on("by_token", "<+pipeline.variables.env>");
  const { status, detail } = await run({
    id: "no_namespace",
    variables,
    cluster: infrastructure,
    steps: [{ id: "x" }],
  });
  assert.equal(status, "FAILED");
  const { message } = (await detail()).step("x")["failureInfo"];
  assert.match(message, /infra\.namespace has come to 'No Namespace'/);
});
