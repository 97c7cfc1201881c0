/** Triggers that run their pipeline with input sets. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  made,
  createTargets,
  overlayYaml,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const open = '  variables: [{ name: who, type: String, value: "<+input>" }]\n';
  await made(create.pipeline(platform, pipelineYaml("open", "<+input>.default(none)", open)));
  await made(create.inputSet(platform, "open", setYaml("world", "world")));
  await made(create.inputSet(platform, "open", setYaml("event", '"<+trigger.payload.who>"')));
  await made(create.inputSet(platform, "open", inputSetYaml("open", "nothing")));
  await made(create.overlay(platform, "open", overlayYaml("both", "world, event")));
});
after(() => platform?.stop());

const setYaml = (identifier: string, who: string): string =>
  inputSetYaml("open", identifier, `    variables: [{ name: who, value: ${who} }]\n`);
const hook = (identifier: string, refs: string, more = ""): Promise<Answer> =>
  create.trigger(platform, "open", triggerYaml("open", identifier, `  inputSetRefs: [${refs}]\n${more}`));

type Row = { readonly status: string; readonly message: string; readonly who: string | null };

/** What became of one call of the trigger's webhook. */
async function called(webhookUrl: string): Promise<Row> {
  const response = await fetch(webhookUrl, { method: "POST", body: '{"who":"from outside"}' });
  const { data } = (await response.json()) as { data: { eventCorrelationId: string } };
  return eventually(async () => {
    const [row] = await platform.db.query<Row>(
      `select d.status, d.message, e.plan #>> '{context,pipeline,variables,who}' as who
         from webhook_deliveries d left join executions e on e.account_id = d.account_id and e.id = d.execution_id
        where d.correlation_id = $1 and d.status is not null`,
      [data.eventCorrelationId],
    );
    return row;
  });
}

test("values of input sets are inputs of the run; inputYaml overrides them", async () => {
  const started = { status: "TARGET_EXECUTION_REQUESTED", message: "Pipeline execution was requested successfully" };
  const world = await made(hook("world", "world"));
  assert.deepEqual(await called(world.webhookUrl), { ...started, who: "world" });
  const both = await made(hook("both", "both"));
  assert.deepEqual(await called(both.webhookUrl), { ...started, who: "from outside" });
  const inputYaml = `  inputYaml: "pipeline: { variables: [{ name: who, value: mars }] }"\n`;
  const over = await made(hook("over", "both", inputYaml));
  assert.deepEqual(await called(over.webhookUrl), { ...started, who: "mars" });
});

test("missing inputs and missing input sets are reported when the trigger is created", async () => {
  for (const [refs, message] of [
    ["nothing", "Runtime inputs without a value: pipeline.variables[0].value (who)."],
    ["world, none", "Input sets that pipeline [open] does not have: none."],
  ] as const) {
    const { status, body } = await hook("bad", refs);
    assert.deepEqual([status, body.message], [400, message]);
  }
  assert.equal((await hook("bad", Array(21).fill("world").join(", "))).status, 400);
  assert.equal((await platform.send("GET", `/pipeline/api/triggers/bad?${SCOPE}&targetIdentifier=open`)).status, 404);
});

test("each call reads the sets as they are by then; without them the delivery says so", async () => {
  const { webhookUrl } = await made(hook("late", "world"));
  const path = `/pipeline/api/inputSets/world?${SCOPE}&pipelineIdentifier=open`;
  await made(platform.send("PUT", path, { contentType: YAML, body: setYaml("world", "changed") }));
  assert.equal((await called(webhookUrl)).who, "changed");
  await made(platform.send("DELETE", `/pipeline/api/inputSets/both?${SCOPE}&pipelineIdentifier=open`));
  await made(platform.send("DELETE", path));
  assert.deepEqual(await called(webhookUrl), {
    status: "INVALID_RUNTIME_INPUT_YAML",
    message: "Input sets that pipeline [open] does not have: world.",
    who: null,
  });
});
