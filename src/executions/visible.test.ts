/** How lists find what a reader may see: by pipelines where they are few. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { grantOf } from "../../test/support/access.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { createPipelines } from "../../test/support/runs.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { seenBy, seenInProject } from "./visible.ts";

let platform: TestPlatform;
let actor: Actor;
let projectId: Uuid;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] }, { id: "two", steps: [{ id: "a" }] });
  const [project] = await platform.db.query<{ id: Uuid }>("select id from projects where identifier = 'p'");
  assert.ok(project);
  projectId = project.id;
  const accountId = fromWire(platform.accountId) as Uuid;
  const grants = [grantOf("_project_viewer", { orgIdentifier: "default", projectIdentifier: "p" })];
  actor = { kind: "user", accountId, id: accountId, name: "reader", email: "reader@example.com", grants };
});
after(() => platform?.stop());

test("few pipelines are named, those of another project are not", async () => {
  const [condition] = await seenInProject(platform.db, actor, projectId);
  const ids = await platform.db.query<{ id: Uuid }>("select id from pipelines");
  assert.equal(condition?.is, "pipelineSeen");
  assert.deepEqual(new Set(condition.value as Uuid[]), new Set(ids.map(({ id }) => id)));
  const [none] = await seenInProject(platform.db, actor, actor.accountId);
  assert.deepEqual(none, { is: "pipelineSeen", value: [] });
});

test("very many pipelines are compared with each execution", async () => {
  await platform.db.query(
    `insert into pipelines select (jsonb_populate_record(null::pipelines,
         to_jsonb(p) || jsonb_build_object('id', gen_random_uuid(), 'identifier', 'more' || nth))).*
       from (select * from pipelines limit 1) p, generate_series(1, 499) nth`,
  );
  assert.deepEqual(await seenInProject(platform.db, actor, projectId), seenBy(actor));
});
