/** What a request to adopt may cost, and who the actor is when it is committed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
const statements: string[] = [];
/** Happens once, before the next statement that reads an input set. */
let meanwhile: (() => Promise<unknown>) | undefined;

const NINE = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const ASKED = "  variables: [{ name: x, type: String, value: <+input> }]\n";
const GIVEN = "    variables: [{ name: x, type: String, value: a }]\n";

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: async (text, values) => {
        statements.push(text);
        const first = meanwhile;
        if (first && text.includes("from input_sets s")) {
          meanwhile = undefined;
          await first();
        }
        return db.query(text, values);
      },
    }),
  });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy", "x", ASKED)));
  for (const nth of NINE) {
    await made(create.inputSet(platform, "deploy", inputSetYaml("deploy", `s${nth}`, GIVEN)));
    await made(create.trigger(platform, "deploy", triggerYaml("deploy", `t${nth}`, "  inputSetRefs: [s0]\n")));
  }
});
after(() => platform?.stop());

const json = (method: string, path: string, body: object, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send(method, path, { contentType: JSON_TYPE, body: JSON.stringify(body), apiKey });
const adopt = (resources: readonly object[], apiKey?: string): Promise<Answer> =>
  json("POST", "/pipeline/api/ownership/adopt", { resources }, apiKey);
const entries = async (): Promise<number> =>
  (await platform.db.query("select id from audit_entries where operation like '%.adopt'")).length;

const IN_DEPLOY = { orgIdentifier: "default", projectIdentifier: "shop", pipelineIdentifier: "deploy" };
const PIPELINE = { type: "PIPELINE", ...IN_DEPLOY };
const SETS = NINE.map((nth) => ({ type: "INPUT_SET", ...IN_DEPLOY, identifier: `s${nth}` }));
const TRIGGERS = NINE.map((nth) => ({ type: "TRIGGER", ...IN_DEPLOY, identifier: `t${nth}` }));

/** An administrator of the account. */
async function administrator(): Promise<{ readonly key: string; readonly id: Uuid }> {
  const key = await platform.addUser("_account_admin");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  return { key, id: row.id };
}
const TOKEN_DELETION = "delete from tokens where api_key_id in (select id from api_keys where user_id = $1)";
const authors = (id: Uuid): Promise<readonly object[]> =>
  platform.db.query(
    "select 1 from pipeline_versions where author_id = $1 union all select 1 from input_sets where author_id = $1",
    [id],
  );

test("a resource that is named twice is refused by its name and place", async () => {
  const had = await entries();
  // Of a pipeline the identifier is not looked at.
  const { status, body, text } = await adopt([PIPELINE, ...SETS, { ...PIPELINE, identifier: "other" }]);
  assert.equal(status, 400, text);
  assert.equal(body.message, "Pipeline [default/shop/deploy] is named twice. Name each resource once.");
  assert.match(text, /resources\[10\]/);
  assert.equal((await adopt([SETS[0] ?? {}, SETS[0] ?? {}])).status, 400);
  assert.equal(await entries(), had);
});

test("the pipeline of several resources is read once", async () => {
  statements.length = 0;
  await made(adopt([PIPELINE, ...SETS]));
  const read = statements.filter((text) => text.includes("v.yaml"));
  assert.equal(read.length, 1, read.join("\n"));
});

test("all documents of a request are bounded in bytes, the pipeline once, and again for each trigger", async () => {
  const ofPipeline = "pipeline_id = (select id from pipelines where identifier = 'deploy')";
  const pad = (table: string, where: string, bytes: number): Promise<unknown> =>
    platform.db.query(
      `update ${table} set yaml = yaml || '# ' || repeat('x', ${bytes}) where ${where} and ${ofPipeline}`,
    );
  const restore = (table: string): Promise<unknown> =>
    platform.db.query(`update ${table} set yaml = split_part(yaml, '# x', 1) where ${ofPipeline}`);
  const tooLarge = async (resources: readonly object[], last: string): Promise<void> => {
    const { status, body, text } = await adopt(resources);
    assert.equal(status, 400, text);
    const message = `${last} cannot be adopted: The documents that the request reads have more than 5 MiB together`;
    assert.ok(body.message.startsWith(message), body.message);
  };
  const had = await entries();

  await pad("pipeline_versions", "true", 600_000);
  await tooLarge(TRIGGERS, "Trigger [default/shop/deploy/t8]");
  await restore("pipeline_versions");
  await pad("pipeline_versions", "true", 350_000);
  await pad("input_sets", "identifier = 's0'", 250_000);
  await tooLarge(TRIGGERS, "Trigger [default/shop/deploy/t8]");
  await restore("pipeline_versions");
  await pad("pipeline_versions", "true", 3_100_000);
  await pad("input_sets", "identifier <> 's0'", 250_000);
  await tooLarge(SETS, "Input set [default/shop/deploy/s8]");
  assert.equal(await entries(), had);

  await restore("input_sets");
  await restore("pipeline_versions");
  await pad("pipeline_versions", "true", 600_000);
  await made(adopt([PIPELINE, ...SETS]));
  await restore("pipeline_versions");
  await made(adopt([...SETS, ...TRIGGERS]));
});

test("a caller who loses account, credential or permission while documents are read adopts nothing", async () => {
  const had = await entries();
  for (const [change, status] of [
    [({ id }) => json("POST", `/ng/api/user/${toWire(id)}/deactivate`, {}), 401],
    [({ id }) => platform.db.query(TOKEN_DELETION, [id]), 401],
    [({ id }) => dropRoles(id), 403],
  ] satisfies [(who: { readonly id: Uuid }) => Promise<unknown>, number][]) {
    const leaver = await administrator();
    meanwhile = () => change(leaver);
    const answer = await adopt([...SETS, PIPELINE], leaver.key);
    assert.equal(meanwhile, undefined);
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(await authors(leaver.id), []);
  }
  assert.equal(await entries(), had);
});

async function dropRoles(id: Uuid): Promise<void> {
  const rows = await platform.db.query<{ identifier: string }>(
    "select identifier from role_assignments where principal_id = $1",
    [id],
  );
  for (const { identifier } of rows) await made(platform.send("DELETE", `/authz/api/roleassignments/${identifier}`));
}
