/**
 * Attack class 21: values of type Number that are code for Bash arithmetic, from a caller of a webhook, from an
 * executor and from the output of a step. Server, delegate and Bash are real.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { createClient, type Client } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { pipelineOf, step, type PipelineDocument } from "../../support/clients/pipeline.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
  type ServerProcess,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;
let server: ServerProcess;
let client: Client;
let attacked: string;
let number = 0;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
  server = await startServer(folder, { DATABASE_URL: database.url });
  client = createClient(await readFacts(folder));
  await client.makeProject();
});

after(async () => {
  await server?.end("SIGTERM");
  await folder?.remove();
  await database?.drop();
});

beforeEach(() => {
  number += 1;
  attacked = `${folder.exchange}/attacked-${number}`;
});

/** Evaluates to a number and runs a command. */
const attack = (): string => `a[$(touch ${attacked} >&2)]+1`;
/** Creates a file beside it, which shows that the attack would succeed. */
const loop = (): string => `for ((r=1; r<=REPLICAS; r++)); do echo "replica $r"; done; touch ${attacked}-reached`;

/** The step "scale", whose variable REPLICAS has type Number, after the others. */
function scaling(identifier: string, value: string, ...before: readonly object[]): PipelineDocument {
  const scale = step("scale", loop(), { env: { REPLICAS: value } });
  const document = pipelineOf(identifier, ...before, scale);
  const text = JSON.stringify(document);
  const typed = text.replace('"name":"REPLICAS","type":"String"', '"name":"REPLICAS","type":"Number"');
  assert.notEqual(typed, text);
  return JSON.parse(typed);
}

const SCOPE = "orgIdentifier=default&projectIdentifier=shop";
const PATH = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.environmentVariables[0].value";

async function call(webhook: string, replicas: string | number) {
  const body = JSON.stringify({ replicas });
  const answer = await fetch(webhook, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(answer.status, 200);
  const { data } = (await answer.json()) as { data: { apiUrl: string } };
  return until(
    async () => {
      const fate = (await (await fetch(data.apiUrl)).json()) as { data: { webhookProcessingDetails: Fate } };
      return fate.data.webhookProcessingDetails;
    },
    (fate) => fate.pipelineExecutionId !== null || fate.exceptionOccured,
  );
}
type Fate = {
  readonly pipelineExecutionId: string | null;
  readonly exceptionOccured: boolean;
  readonly status: string;
  readonly message: string;
};

test("an arithmetic expression as a number in a webhook's payload starts no run", async () => {
  await client.makePipeline(scaling("by_payload", "<+trigger.payload.replicas>"));
  const webhook = await client.makeWebhook("by_payload");
  const refused = await call(webhook, attack());
  assert.equal(refused.status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(refused.message, /environmentVariables\.REPLICAS.*its type is Number/);
  assert.equal(refused.pipelineExecutionId, null);
  assert.equal(existsSync(attacked), false);

  const taken = await call(webhook, 2);
  assert.ok(taken.pipelineExecutionId, taken.message);
  assert.equal(await client.end(taken.pipelineExecutionId), "SUCCESS");
  assert.equal(await client.log(taken.pipelineExecutionId), "replica 1\nreplica 2\n");
  assert.equal(existsSync(`${attacked}-reached`), true);
});

test("an arithmetic expression as a number from an executor is refused with its path", async () => {
  await client.makePipeline(scaling("by_input", "<+input>"));
  const inputs = (value: string): object => ({
    pipeline: {
      stages: [
        {
          stage: {
            identifier: "only",
            spec: {
              execution: {
                steps: [
                  { step: { identifier: "scale", spec: { environmentVariables: [{ name: "REPLICAS", value }] } } },
                ],
              },
            },
          },
        },
      ],
    },
  });
  const run = (value: string) =>
    client.send(
      "POST",
      `/pipeline/api/pipeline/execute/by_input?${SCOPE}`,
      JSON.stringify(inputs(value)),
      "application/json",
    );
  for (const value of [`<+"${attack()}">`, attack(), "007", "0x10", "<+'0' + '7'>"]) {
    const answer = await run(value);
    assert.equal(answer.status, 400, value);
    assert.match(answer.text, /its type is Number/);
    assert.ok(answer.text.includes(PATH), answer.text);
  }
  const taken = await run("<+'2'>");
  assert.equal(taken.status, 200, taken.text);
  assert.equal(await client.end(taken.body.data.planExecution.uuid), "SUCCESS");
  assert.equal(existsSync(attacked), false);
});

test("a number in the output of a step is checked before the step that reads it starts", async () => {
  const output = step("count", `n='${attack()}'`, { outputs: ["n"] });
  await client.makePipeline(scaling("by_output", "<+execution.steps.count.output.outputVariables.n>", output));
  const id = await client.run("by_output");
  assert.equal(await client.end(id), "FAILED");
  const { status, failureInfo } = await client.node(id, "scale");
  assert.equal(status, "Failed");
  assert.match(failureInfo.message, /Variable REPLICAS cannot be used: its type is Number/);
  assert.deepEqual(failureInfo.failureTypeList, ["CONFIGURATION_FAILURE"]);
  assert.equal(existsSync(attacked), false);
});
