/** Steps with a cluster: a real kubectl reaches it, and nothing of the credentials stays or is shown. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import type { KubernetesTarget } from "../../protocol/work/kubernetes.ts";
import { Unreached } from "../../src/platform/outgoing/unreached.ts";
import { kubectlIsMissing } from "../../test/support/services/kubectl.ts";
import { PASSPHRASE, startTestCluster, TOKEN, type TestCluster } from "../../test/support/services/kubernetes-api.ts";
import { MASK } from "../mask/marks.ts";
import type { DelegateDeps } from "../delegate.ts";
import { connectDelegate, createPlace } from "../testing/kit.ts";
import { newTaskId, type PretendServer, startPretendServer } from "../testing/pretend-server.ts";

const skip = (await kubectlIsMissing()) ?? false;
let cluster: TestCluster;
before(async () => void (cluster = await startTestCluster()));
after(() => cluster?.stop());

type Script = {
  readonly script: string;
  readonly kubernetes: KubernetesTarget;
  readonly secrets: Readonly<Record<string, string>>;
};

/** Runs a script, with its secrets in the order of the object. */
async function run(server: PretendServer, { script, kubernetes, secrets }: Script) {
  const lease = { task: newTaskId(), epoch: 1 };
  for (const [nth, value] of Object.values(secrets).entries()) server.sendSecret(lease, nth, "value", value);
  const uses = Object.keys(secrets).map((label) => ({ as: "value" as const, label }));
  const task = server.run({ script, kubernetes, secrets: { uses, env: [] } }, lease);
  const { outcome } = await task.finished;
  return { outcome, output: task.output().toString() };
}

type OwnCluster = NonNullable<DelegateDeps["ownCluster"]>;

async function onDelegate(
  play: (server: PretendServer) => Promise<void>,
  ownCluster: OwnCluster = () => ({
    server: cluster.url,
    ca: cluster.files.ca,
    credential: { kind: "token", token: TOKEN } as const,
  }),
): Promise<void> {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place, { ownCluster });
  try {
    await play(server);
  } finally {
    await delegate.stop();
    await server.close();
    place.remove();
  }
}

const byToken = (): KubernetesTarget => ({
  namespace: "web",
  cluster: { server: cluster.url, ca: 1, credential: { kind: "token", token: 0 } },
});
const APPLY = `cat > map.yaml <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { colour: blue }
END
kubectl apply --validate=false -f map.yaml && kubectl get configmap settings -o 'jsonpath={.data.colour}'`;

test("kubectl applies and reads an object in the step's namespace, with a token", { skip }, () =>
  onDelegate(async (server) => {
    const secrets = { "account.token": `${TOKEN}\n`, "account.ca": cluster.files.ca };
    const { outcome, output } = await run(server, { script: APPLY, kubernetes: byToken(), secrets });
    assert.deepEqual(outcome, { kind: "exited", exitCode: 0, outputs: [] }, output);
    assert.equal(output, "configmap/settings created\nblue");
    assert.deepEqual(cluster.configMaps.get("web/settings"), { colour: "blue" });
    assert.equal(cluster.requests.at(-1)?.user, "system:serviceaccount:web:deployer");
  }),
);

test("kubectl uses a client certificate whose key is encrypted", { skip }, () =>
  onDelegate(async (server) => {
    const { ca, clientCertificate, encryptedClientKey } = cluster.files;
    const secrets = { ca, certificate: clientCertificate, key: encryptedClientKey, passphrase: PASSPHRASE };
    const credential = { kind: "certificate", certificate: 1, key: 2, passphrase: 3, algorithm: null } as const;
    const kubernetes = { namespace: "web", cluster: { server: cluster.url, ca: 0, credential } };
    const script = "kubectl get --raw /version | grep -o v1.32.0; kubectl config view --raw -o json";
    const { outcome, output } = await run(server, { script, kubernetes, secrets });
    assert.deepEqual(outcome, { kind: "exited", exitCode: 0, outputs: [] }, output);
    assert.match(output, /^v1\.32\.0\n/);
    assert.equal(cluster.requests.at(-1)?.user, "ada");
    const shown = /"client-key-data": "(.*)"/.exec(output)?.[1] ?? "";
    assert.ok(shown.startsWith(MASK), `the key is in the output: ${shown}`);
  }),
);

test("the kubeconfig is for the step's user only, and is removed with the task", () =>
  onDelegate(async (server) => {
    const secrets = { token: TOKEN, ca: cluster.files.ca };
    const script = `[ "$KUBECONFIG" = "$PLATFORM_KUBE_CONFIG_PATH" ] && echo same
      stat -c '%a %u' "$KUBECONFIG" && id -u && echo "$KUBECONFIG" && cat "$KUBECONFIG"`;
    const { output } = await run(server, { script, kubernetes: byToken(), secrets });
    const [same, mode, user, path = "", ...lines] = output.split("\n");
    assert.deepEqual([same, mode], ["same", `600 ${user}`]);
    assert.match(lines.join("\n"), /"namespace": "web"/);
    assert.ok(!output.includes(TOKEN) && output.includes(`"token": "${MASK}"`), output);
    assert.match(path, /\/kubeconfig$/);
    assert.ok(!existsSync(path), "the file is left");
  }));

test("a step's own KUBECONFIG replaces the one of its cluster", () =>
  onDelegate(async (server) => {
    const lease = { task: newTaskId(), epoch: 1 };
    for (const [nth, value] of [TOKEN, cluster.files.ca].entries()) server.sendSecret(lease, nth, "value", value);
    const uses = ["token", "ca"].map((label) => ({ as: "value" as const, label }));
    const env = [{ name: "KUBECONFIG", value: "/own" }];
    const script = 'echo "$KUBECONFIG"';
    const task = server.run({ script, env, kubernetes: byToken(), secrets: { uses, env: [] } }, lease);
    await task.finished;
    assert.equal(task.output().toString(), "/own\n");
  }));

test("with the delegate's own identity its token is masked, too", () =>
  onDelegate(async (server) => {
    const script = `cat "$KUBECONFIG"; echo "\${PLATFORM_KUBE_CONFIG_PATH-unset}"`;
    const { output } = await run(server, { script, kubernetes: { namespace: "web", cluster: null }, secrets: {} });
    assert.ok(!output.includes(TOKEN) && output.includes(`"token": "${MASK}"`), output);
    assert.match(output, /unset\n$/);
  }));

test("without an identity of the delegate the step has no kubeconfig", () =>
  onDelegate(
    async (server) => {
      const script = 'echo "${KUBECONFIG-unset}"';
      const { output } = await run(server, { script, kubernetes: { namespace: "web", cluster: null }, secrets: {} });
      assert.equal(output, "unset\n");
    },
    () => undefined,
  ));

test("credentials that cannot be used fail the step with their name", async () => {
  await onDelegate(async (server) => {
    const secrets = { token: TOKEN, "org.ca": "no certificate" };
    const { outcome, output } = await run(server, { script: "echo ran", kubernetes: byToken(), secrets });
    const message = "The step's cluster cannot be used: The secret [org.ca] contains no certificate in PEM format.";
    assert.deepEqual([outcome, output], [{ kind: "refused", message }, ""]);
  });
  const none = (): never => {
    throw new Unreached("No identity", "The delegate's kubeconfig is not YAML.");
  };
  await onDelegate(async (server) => {
    const { outcome } = await run(server, {
      script: "echo ran",
      kubernetes: { namespace: "w", cluster: null },
      secrets: {},
    });
    assert.ok(outcome.kind === "refused");
    assert.match(outcome.message, /kubeconfig is not YAML/);
  }, none);
});
