/** What is kept of an author's grants over single things goes with these: another thing of the name is not what they were given. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  makeTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { toWire, type Uuid } from "../core/ids.ts";

const PLACE = { orgIdentifier: "default", projectIdentifier: "shop" };
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";
let platform: TestPlatform;
/** Edits and runs all of the project, and uses of secrets and environments those that their group names. */
let author: string;
let authorId: Uuid;

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await makeTargets(platform);
  author = await platform.addUser("_account_viewer");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  authorId = row.id;
  await platform.db.query("delete from role_assignments where principal_id = $1", [authorId]);
  await role("builds", [
    ...[
      "core_pipeline_view",
      "core_pipeline_edit",
      "core_pipeline_execute",
      "core_inputset_view",
      "core_inputset_edit",
    ],
    ...[
      "core_service_view",
      "core_service_access",
      "core_connector_view",
      "core_connector_access",
      "core_project_view",
    ],
  ]);
  await role(
    "uses",
    NOUNS.flatMap((noun) => [`core_${noun}_view`, `core_${noun}_access`]),
  );
  await group("whole", "_all");
  await assign("builds", "whole");
});
after(() => platform?.stop());

const NOUNS = ["secret", "environment"];
const post = (path: string, body: object): Promise<Answer> =>
  platform.send("POST", `${path}?${SCOPE}`, { contentType: JSON_TYPE, body: JSON.stringify(body) });
const role = (identifier: string, permissions: readonly string[]): Promise<unknown> =>
  made(post("/authz/api/roles", { identifier, name: identifier, permissions }));
const group = (identifier: string, name: string): Promise<unknown> =>
  made(
    post("/resourcegroup/api/v2/resourcegroup", {
      resourceGroup: {
        ...{ identifier, name: identifier, includedScopes: [{ filter: "EXCLUDING_CHILD_SCOPES", ...PLACE }] },
        resourceFilter:
          name === "_all"
            ? { includeAllResources: true }
            : {
                includeAllResources: false,
                resources: NOUNS.map((noun) => ({ resourceType: noun.toUpperCase(), identifiers: [name] })),
              },
      },
    }),
  );
const assign = (roleIdentifier: string, resourceGroupIdentifier: string): Promise<unknown> =>
  made(
    post("/authz/api/roleassignments", {
      principal: { identifier: toWire(authorId), type: "USER" },
      ...{ roleIdentifier, resourceGroupIdentifier },
    }),
  );

const PATHS = { secret: "/ng/api/v2/secrets", environment: "/ng/api/environmentsV2" } as const;
const make = {
  secret: (identifier: string): Promise<unknown> => {
    const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
    return made(post(PATHS.secret, { secret: { type: "SecretText", name: identifier, identifier, ...PLACE, spec } }));
  },
  environment: (identifier: string): Promise<unknown> => made(create.environment(platform, identifier, IN_SHOP)),
} as const;

const by = (apiKey: string): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { ...options, apiKey }),
});

/** What became of a call of the trigger's webhook. */
async function fate(webhookUrl: string): Promise<{ status: string; message: string }> {
  const response = await fetch(webhookUrl, { method: "POST", body: "{}" });
  const { data } = (await response.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string }>(
      "select status, message from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? { status: row.status, message: row.message } : undefined;
  });
}

/** Whom the refusal names. */
const AUTHORS = {
  trigger: /^The pipeline cannot run/,
  pipeline: /version 1 of the pipeline/,
  "input set": /the input set \[given\]/,
} as const;

/** A trigger of which one part is the author's; it uses what is called `name`. */
async function runs(part: keyof typeof AUTHORS, name: string): Promise<string> {
  const on = (one: keyof typeof AUTHORS): TestPlatform => (one === part ? by(author) : platform);
  const yaml = pipelineYaml(name, `<+secrets.getValue("${name}")>`).replace(
    "environmentRef: staging",
    "environmentRef: <+input>",
  );
  const set = inputSetYaml(
    name,
    "given",
    `    stages:\n    - stage:\n        identifier: build\n        type: Deployment\n        spec:\n          infrastructure:\n            environmentRef: ${name}\n`,
  );
  const trigger = triggerYaml(name, "hook", "  inputSetRefs: [given]\n");
  await made(create.pipeline(on("pipeline"), yaml));
  await made(create.inputSet(on("input set"), name, set));
  const { webhookUrl: url } = await made(create.trigger(on("trigger"), name, trigger));
  return url;
}

async function refusedAnew(part: keyof typeof AUTHORS): Promise<void> {
  for (const noun of ["secret", "environment"] as const) {
    const name = `${part.replace(" ", "_")}_${noun}`;
    for (const one of ["secret", "environment"] as const) await make[one](name);
    await group(name, name);
    await assign("uses", name);
    const url = await runs(part, name);
    assert.equal((await fate(url)).status, "TARGET_EXECUTION_REQUESTED");
    const gone = await platform.send("DELETE", `${PATHS[noun]}/${name}?${SCOPE}&forceDelete=true`);
    assert.equal(gone.status, 200, gone.text);
    await make[noun](name);
    const { status, message } = await fate(url);
    assert.equal(status, "INVALID_RUNTIME_INPUT_YAML", message);
    assert.match(message, AUTHORS[part]);
    assert.match(message, new RegExp(`No ${noun} '${name}' exists`));
  }
}

test("a trigger whose author could use one thing does not use another that is made under its identifier", () =>
  refusedAnew("trigger"));

test("nor does one whose pipeline was saved by whoever could use the former one", () => refusedAnew("pipeline"));

test("nor one that takes an input set of theirs", () => refusedAnew("input set"));
