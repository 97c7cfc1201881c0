/** Attack class 39: concurrent requests of which only some may succeed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  YAML,
} from "../../support/contract.ts";
import { pretendDelegate } from "../../support/pretend-delegate.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";

const AT_ONCE = 12;
let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
});
after(() => platform?.stop());

const atOnce = (ask: (nth: number) => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => ask(nth)));
const succeeded = (answers: readonly Answer[]): number => answers.filter(({ status }) => status === 200).length;

test("of many concurrent updates of the same version one succeeds, and no change is lost unnoticed", async () => {
  const path = `/pipeline/api/pipelines/deploy?${SCOPE}`;
  const answers = await atOnce((nth) =>
    platform.send("PUT", path, {
      body: pipelineYaml("deploy", `by ${nth}`),
      contentType: YAML,
      headers: { "if-match": "1" },
    }),
  );
  assert.equal(succeeded(answers), 1);
  const told = await platform.db.query<{ difference: { changes: unknown[] } }>(
    "select difference from audit_entries where operation = 'pipeline.update'",
  );
  assert.equal(told.length, 1);
  assert.deepEqual(told[0]?.difference.changes[0], { field: "version", before: 1, after: 2 });
});

test("of many concurrent creations of the same resource one succeeds", async () => {
  const projects = await atOnce(() => create.project(platform, projectYaml("once")));
  const environments = await atOnce(() => create.environment(platform, "once"));
  assert.deepEqual([succeeded(projects), succeeded(environments)], [1, 1]);
  for (const { status, body, text } of [...projects, ...environments])
    if (status !== 200) assert.deepEqual([status, body.code], [400, "DUPLICATE_FIELD"], text);
});

test("a checked limit also holds for concurrent requests: tags of a delegate", async () => {
  const { id } = await connectedDelegate();
  const answers = await atOnce((nth) =>
    platform.send("POST", `/ng/api/delegate-group-tags/${id}`, {
      body: JSON.stringify({ tags: Array.from({ length: 10 }, (_, n) => `t-${nth}-${n}`) }),
      contentType: JSON_TYPE,
    }),
  );
  const [row] = await platform.db.query<{ tags: string[] }>("select tags from delegates where name = $1", [id]);
  assert.ok(row && row.tags.length <= 64, `${row?.tags.length} tags`);
  assert.ok(
    succeeded(answers) >= 1 && succeeded(answers) < AT_ONCE,
    JSON.stringify(answers.map(({ status }) => status)),
  );
  assert.equal(row.tags.length, succeeded(answers) * 10, "tags of the successful requests");
});

async function connectedDelegate(): Promise<{ readonly id: string }> {
  const token = await platform.delegateToken();
  const delegate = await pretendDelegate({ url: platform.url, token, name: "racer", tags: [] });
  await delegate.next("welcome");
  await delegate.close();
  return { id: "racer" };
}

test("a pipeline deleted while it starts either runs or is absent: no run is without its pipeline", async () => {
  await made(create.pipeline(platform, pipelineYaml("fleeting")));
  const [deleted, ...started] = await Promise.all([
    platform.send("DELETE", `/pipeline/api/pipelines/fleeting?${SCOPE}`),
    ...Array.from({ length: AT_ONCE }, () => create.run(platform, "fleeting")),
  ]);
  assert.equal(deleted.status, 200);
  for (const { status, text } of started) assert.ok([200, 400, 404].includes(status), text);
  const [row] = await platform.db.query<{ runs: number }>(
    "select count(*) as runs from executions e join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id where p.identifier = 'fleeting'",
  );
  assert.equal(row?.runs, succeeded(started));
  assert.equal((await create.run(platform, "fleeting")).status, 404);
});
