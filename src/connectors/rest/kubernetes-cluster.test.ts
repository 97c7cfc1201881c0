/** Connectors to Kubernetes clusters over REST: shape, faults with their places, lists. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectorYaml, create, JSON_TYPE, made } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
const PATH = "/ng/api/connectors";

before(async () => {
  platform = await startTestPlatform();
  for (const identifier of ["token", "ca", "certificate", "key", "passphrase"]) await createText(identifier);
});
after(() => platform?.stop());

/** Lines of a spec, from `spec:`. */
const clusterYaml = (identifier: string, spec: string, type = "K8sCluster"): string =>
  `connector:\n  name: ${identifier}\n  identifier: ${identifier}\n  type: ${type}\n  spec:\n${spec}`;
const SERVICE_ACCOUNT = `    credential:
      type: ManualConfig
      spec:
        masterUrl: https://cluster.example.com:6443
        auth:
          type: ServiceAccount
          spec: { serviceAccountTokenRef: account.token, caCertRef: account.ca }
`;
const CLIENT_KEY = SERVICE_ACCOUNT.replace("type: ServiceAccount", "type: ClientKeyCert").replace(
  /spec: \{.*\}/,
  "spec: { clientCertRef: account.certificate, clientKeyRef: account.key }",
);
const INHERIT = "    credential: { type: InheritFromDelegate }\n    delegateSelectors: [lab]\n";

async function createText(identifier: string): Promise<void> {
  const secret = {
    type: "SecretText",
    name: identifier,
    identifier,
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: identifier },
  };
  await made(platform.send("POST", "/ng/api/v2/secrets", { contentType: JSON_TYPE, body: JSON.stringify({ secret }) }));
}

test("each kind of credential is answered in full, under either name of the type", async () => {
  const token = { serviceAccountTokenRef: "account.token", caCertRef: "account.ca" };
  const key = {
    ...{ clientCertRef: "account.certificate", clientKeyRef: "account.key", caCertRef: null },
    ...{ clientKeyPassphraseRef: null, clientKeyAlgo: null },
  };
  const manual = (type: string, spec: object) => ({
    type: "ManualConfig",
    spec: { masterUrl: "https://cluster.example.com:6443", auth: { type, spec } },
  });
  for (const [identifier, spec, type, credential, delegateSelectors] of [
    ["by_token", SERVICE_ACCOUNT, "K8sCluster", manual("ServiceAccount", token), []],
    ["by_key", CLIENT_KEY, "KubernetesCluster", manual("ClientKeyCert", key), []],
    ["inherited", INHERIT, "K8sCluster", { type: "InheritFromDelegate" }, ["lab"]],
  ] as const) {
    const { connector } = await made(create.connector(platform, clusterYaml(identifier, spec, type)));
    assert.deepEqual([connector.type, connector.spec], ["K8sCluster", { credential, delegateSelectors }]);
    const again = clusterYaml(identifier, spec, "KubernetesCluster");
    const changed = await made(platform.send("PUT", PATH, { contentType: "text/yaml", body: again }));
    assert.deepEqual(changed.connector, connector);
  }
  const deleted = await platform.send("DELETE", "/ng/api/v2/secrets/key");
  assert.equal(deleted.status, 402, "the connector refers to the secret");
});

test("lists by type and category, under either name, and by inherited credentials", async () => {
  await made(create.connector(platform, clusterYaml("l_token", SERVICE_ACCOUNT)));
  await made(create.connector(platform, clusterYaml("l_own", INHERIT)));
  await made(create.connector(platform, connectorYaml("l_registry")));
  const names = ({ content }: { content: { connector: { identifier: string } }[] }) =>
    content.map(({ connector }) => connector.identifier);
  const query = async (text: string) => names(await made(platform.send("GET", `${PATH}?searchTerm=l_&${text}`)));
  for (const text of ["type=K8sCluster", "type=KubernetesCluster", "category=CLOUD_PROVIDER"])
    assert.deepEqual((await query(text)).toSorted(), ["l_own", "l_token"], text);
  const filtered = async (more: object) => {
    const body = JSON.stringify({ filterType: "Connector", ...more });
    const found = platform.send("POST", `${PATH}/listV2?searchTerm=l_`, { contentType: JSON_TYPE, body });
    return names(await made(found)).toSorted();
  };
  assert.deepEqual(await filtered({ types: ["KubernetesCluster"] }), ["l_own", "l_token"]);
  assert.deepEqual(await filtered({ inheritingCredentialsFromDelegate: true }), ["l_own"]);
  assert.deepEqual(await filtered({ inheritingCredentialsFromDelegate: false }), ["l_registry", "l_token"]);
  const { fieldValues } = await made(platform.send("GET", `${PATH}/fieldValues?connectorType=KubernetesCluster`));
  assert.deepEqual(fieldValues["credential.type"], ["ManualConfig", "InheritFromDelegate"]);
});

test("a wrong spec is refused with line and column, and leaves nothing", async () => {
  const count = async () => (await platform.db.query("select count(*) as n from connectors"))[0]?.["n"];
  const earlier = await count();
  for (const [spec, message] of [
    [SERVICE_ACCOUNT.replace("https:", "http:"), /masterUrl: must be an https address.*line 9, column 20/],
    [SERVICE_ACCOUNT.replace("//", "//me:secret@"), /masterUrl: must be an http or https address without a user name/],
    [SERVICE_ACCOUNT.replace("type: ServiceAccount", "type: OpenIdConnect"), /auth\.type: must have the type ServiceA/],
    [SERVICE_ACCOUNT.replace("ManualConfig", "Other"), /credential\.type: must have the type ManualConfig or Inherit/],
    [SERVICE_ACCOUNT.replace("account.token", "'a secret'"), /serviceAccountTokenRef: must name a secret.*line 12/],
    [CLIENT_KEY.replace("key }", "key, clientKeyAlgo: DSA }"), /clientKeyAlgo/],
    [INHERIT.replace("[lab]", "[]"), /delegateSelectors: must name the delegates.*line 7/],
    [INHERIT.replace("    delegateSelectors: [lab]\n", ""), /delegateSelectors: must name the delegates/],
    [`${INHERIT}    executeOnDelegate: false\n`, /executeOnDelegate: must be true/],
    [`${INHERIT}    proxy: true\n`, /'proxy' is not supported/],
    ["    delegateSelectors: [lab]\n", /credential/],
  ] as const) {
    const { status, body } = await create.connector(platform, clusterYaml("wrong", spec));
    assert.equal(status, 400, spec);
    assert.match(body.message, message);
  }
  const spec = SERVICE_ACCOUNT.replace("account.token", "account.none");
  const { status, body } = await create.connector(platform, clusterYaml("wrong", spec));
  assert.deepEqual([status, body.code], [400, "SECRET_NOT_FOUND"]);
  assert.match(body.message, /^connector\.spec\.credential\.spec\.auth\.spec\.serviceAccountTokenRef: /);
  assert.equal(await count(), earlier);
});
