/** A pipeline that is deleted, and another one that gets its identifier: nothing of the first one's runs passes to it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { toWire, type Uuid } from "../core/ids.ts";

const PRIVATE = "private payload 4711";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

const remove = (path: string): Promise<unknown> => made(platform.send("DELETE", `/pipeline/api/${path}`));
const executions = async () => (await platform.db.query("select id from executions")).length;

/** The execution that a call of the webhook started. */
async function called(webhookUrl: string): Promise<string> {
  const answer = await fetch(webhookUrl, { method: "POST", body: JSON.stringify({ customer: PRIVATE }) });
  const { data } = (await answer.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ id: Uuid | null }>(
      "select execution_id as id from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.id ? toWire(row.id) : undefined;
  });
}

const rerun = (id: string, pipeline: string): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipeline/execute/rerun/${id}/${pipeline}?${SCOPE}`);

test("a run is not repeated in another pipeline of the same identifier: 404 as for a deleted one", async () => {
  await made(create.pipeline(platform, pipelineYaml("replaced")));
  const { webhookUrl } = await made(create.trigger(platform, "replaced", triggerYaml("replaced")));
  const [byHand, byTrigger] = [
    (await made(create.run(platform, "replaced"))).planExecution.uuid as string,
    await called(webhookUrl),
  ];
  await remove(`pipelines/replaced?${SCOPE}`);
  const deleted = await rerun(byHand, "replaced");
  assert.equal(deleted.status, 404, deleted.text);
  await made(create.pipeline(platform, pipelineYaml("replaced", "<+trigger.payload.customer>")));
  // The trigger of the deleted pipeline has an identifier that is free again, too.
  await made(create.trigger(platform, "replaced", triggerYaml("replaced")));
  const had = await executions();
  const refused = await rerun(byHand, "replaced");
  assert.deepEqual([refused.status, refused.body.message], [404, deleted.body.message], refused.text);
  const withPayload = await rerun(byTrigger, "replaced");
  assert.ok(withPayload.status >= 400, withPayload.text);
  assert.ok(!withPayload.text.includes(PRIVATE));
  assert.equal(await executions(), had);
});

test("what a trigger started is not repeated after the trigger was deleted, also where another has its identifier", async () => {
  await made(create.pipeline(platform, pipelineYaml("untriggered", "<+trigger.payload.customer>")));
  const hook = triggerYaml("untriggered", "hook");
  const { webhookUrl } = await made(create.trigger(platform, "untriggered", hook));
  const id = await called(webhookUrl);
  await made(rerun(id, "untriggered"));
  await remove(`triggers/hook?${SCOPE}&targetIdentifier=untriggered`);
  const had = await executions();
  const message = "Trigger 'hook' was deleted after it started the execution.";
  for (const again of [false, true]) {
    if (again) await made(create.trigger(platform, "untriggered", hook));
    const { status, body, text } = await rerun(id, "untriggered");
    assert.deepEqual([status, body.message], [403, message], text);
  }
  assert.equal(await executions(), had);
});

test("an idempotency key is answered for the pipeline that it started, not for another one of the same identifier", async () => {
  await made(create.pipeline(platform, pipelineYaml("keyed")));
  const start = (): Promise<Answer> =>
    platform.send("POST", `/pipeline/api/pipeline/execute/keyed?${SCOPE}`, { headers: { "idempotency-key": "k" } });
  const first = (await made(start())).planExecution.uuid;
  assert.equal((await made(start())).planExecution.uuid, first);
  await remove(`pipelines/keyed?${SCOPE}`);
  assert.equal((await start()).status, 404);
  await made(create.pipeline(platform, pipelineYaml("keyed")));
  const had = await executions();
  const { status, body, text } = await start();
  assert.equal(status, 422, text);
  assert.match(body.message, /Idempotency-Key 'k' was used for another request/);
  assert.equal(await executions(), had);
});
