/** Migration 000037 finds the authors of existing documents and the principals of open executions. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { assignServiceAccountRole, serviceToken } from "../../test/support/service-accounts.ts";
import type { Principal } from "../pipelines/index.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const scope = { contentType: JSON_TYPE, body: JSON.stringify({ identifier: "robot", name: "Robot" }) };
  await made(platform.send("POST", "/ng/api/serviceaccount", scope));
  await assignServiceAccountRole(platform, "robot", "_account_admin");
  await save("by_person", await platform.addUser("_account_admin"));
  await save("by_robot", await serviceToken(platform, "robot"));
});
after(() => platform?.stop());

const as = (apiKey: string): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { ...options, apiKey }),
});

/** A pipeline, an input set, one that was changed, and an ended, an open and a triggered execution, all by one account. */
async function save(name: string, apiKey: string): Promise<void> {
  const on = as(apiKey);
  await made(create.pipeline(on, pipelineYaml(name)));
  for (const identifier of ["kept", "changed"]) await made(create.inputSet(on, name, inputSetYaml(name, identifier)));
  const changed = inputSetYaml(name, "changed").replace("name: changed", "name: Changed");
  const path = `/pipeline/api/inputSets/changed?${SCOPE}&pipelineIdentifier=${name}`;
  await made(on.send("PUT", path, { contentType: YAML, body: changed }));
  const [ended] = [await made(create.run(on, name)), await made(create.run(on, name))];
  const { uuid } = ended.planExecution;
  await platform.db.query("update executions set ended_at = 1 where id = $1", [
    Buffer.from(uuid, "base64url").toString("hex"),
  ]);
  const { webhookUrl } = await made(create.trigger(on, name, triggerYaml(name)));
  await fetch(webhookUrl, { method: "POST", body: "{}" });
  await eventually(async () => {
    const query =
      "select 1 from webhook_deliveries d join triggers t on t.id = d.trigger_id where d.execution_id is not null and t.yaml like $1";
    return (await platform.db.query(query, [`%pipelineIdentifier: ${name}\n%`]))[0];
  });
}

async function migrate(): Promise<void> {
  const [file = ""] = globSync("migrations/*_principals.sql");
  for (const statement of readFileSync(file, "utf8").split(/;\n/))
    if (/^update /m.test(statement)) await platform.db.query(statement);
}

const rows = async () => ({
  versions: await platform.db.query(
    `select p.identifier, v.version, v.author_kind as kind, v.author_id as id
       from pipeline_versions v join pipelines p on p.id = v.pipeline_id order by v.pipeline_id`,
  ),
  sets: await platform.db.query<{ identifier: string; version: number; kind: string | null; id: string | null }>(
    "select identifier, version, author_kind as kind, author_id as id from input_sets i order by i.id",
  ),
  executions: await platform.db.query<{ isEnded: boolean; trigger: string; principals: Principal[] }>(
    `select ended_at is not null as "isEnded", trigger_type as trigger, principals from executions order by id`,
  ),
});

test("the migration stores known authors and the principals of open executions", async () => {
  const stored = await rows();
  assert.deepEqual(new Set(stored.sets.map(({ kind }) => kind)), new Set(["user", "service_account"]));
  assert.equal(stored.executions.length, 6);

  await platform.db.query("update pipeline_versions set author_kind = null, author_id = null");
  await platform.db.query("update input_sets set author_kind = null, author_id = null");
  await platform.db.query("update executions set principals = '[]'");
  await migrate();

  assert.deepEqual(await rows(), {
    versions: stored.versions,
    sets: stored.sets.map((set) => (set.version === 1 ? set : { ...set, kind: null, id: null })),
    // Of a triggered one the owner of the trigger is not known: it goes on for the author of its pipeline.
    executions: stored.executions.map(({ principals, ...execution }) => ({
      ...execution,
      principals: execution.isEnded
        ? []
        : principals.filter(
            ({ authored }) => authored.type === (execution.trigger === "MANUAL" ? "execution" : "pipeline"),
          ),
    })),
  });
});

test("the migration stores no author where the account was deleted", async () => {
  await platform.db.query(
    "update pipeline_versions set created_by = gen_random_uuid(), author_kind = null, author_id = null",
  );
  await platform.db.query("update executions set principals = '[]'");
  await migrate();
  const { versions, executions } = await rows();
  assert.ok(versions.every((one) => (one as { kind: unknown }).kind === null));
  const triggered = executions.filter(({ trigger, isEnded }) => trigger !== "MANUAL" && !isEnded);
  assert.ok(triggered.length > 0);
  for (const { principals } of triggered)
    assert.deepEqual(
      principals.map(({ author }) => author),
      [null],
    );
});
