/** Secrets in stages that have no environment: a usage scope has to cover all environments of the project. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { addPipeline, createPipelines, detailOf, logOf, startRun, waitForEnd } from "../../support/runs.ts";

let platform: TestPlatform;
let delegate: Delegate;
const place = createPlace();

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  const kinds = (...environments: readonly string[]) => ({
    appEnvScopes: environments.map((filterType) => ({
      application: { filterType: "ALL" },
      environment: { filterType },
    })),
  });
  await secret("everywhere", kinds("PRODUCTION_ENVIRONMENTS", "NON_PRODUCTION_ENVIRONMENTS"));
  await secret("prod_only", kinds("PRODUCTION_ENVIRONMENTS"));
  await secret("others_only", kinds("NON_PRODUCTION_ENVIRONMENTS"));
  delegate = await startDelegate(
    {
      socketUrl: `${platform.url.replace("http", "ws")}/delegate/connect`,
      token: await platform.delegateToken(),
      name: "real",
      tags: [],
      workDir: place.path,
      slots: 4,
      stepUser: undefined,
      stepPath: undefined,
      belongsTo: undefined,
    },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
});
after(async () => {
  await delegate?.stop();
  await platform?.stop();
  place.remove();
});

async function secret(name: string, usageScope: object): Promise<void> {
  const answer = await platform.graphql(
    "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }",
    { input: { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value: `value of ${name}`, usageScope } } },
  );
  assert.ok(answer.body.data?.createSecret, answer.text);
}

async function run(name: string, stageType: "Custom" | "Approval") {
  const id = `${stageType}_${name}`;
  const script = `[ "<+secrets.getValue("account.${name}")>" = "value of ${name}" ] && echo "it is there"`;
  await addPipeline(platform, { id, stageType, steps: [{ id: "x", script }] });
  const execution = await startRun(platform, id);
  return { execution, status: await waitForEnd(platform, execution) };
}

for (const type of ["Custom", "Approval"] as const) {
  test(`a stage of type ${type} gets a secret for all environments`, async () => {
    const { execution, status } = await run("everywhere", type);
    assert.deepEqual([status, await logOf(platform, execution)], ["SUCCESS", "it is there\n"]);
  });
  for (const name of ["prod_only", "others_only"])
    test(`a stage of type ${type} does not get the secret ${name}`, async () => {
      const { execution, status } = await run(name, type);
      assert.deepEqual([status, await logOf(platform, execution)], ["FAILED", ""]);
      const { failureInfo } = (await detailOf(platform, execution)).step("x");
      assert.match(
        failureInfo.message,
        /may not be used here: the run's stage without an environment is outside its usage scope/,
      );
      assert.deepEqual(failureInfo.failureTypeList, ["AUTHORIZATION_ERROR"]);
    });
}
