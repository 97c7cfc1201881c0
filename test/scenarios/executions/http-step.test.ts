/** Http steps on a real delegate, with a server of the test. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Delegate } from "../../../delegate/delegate.ts";
import { createPlace } from "../../../delegate/testing/kit.ts";
import { addStepsPipeline } from "../../support/approvals.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { startRealDelegate } from "../../support/real-delegate.ts";
import { abortRun, createPipelines, detailOf, startRun, waitForEnd } from "../../support/runs.ts";
import { startReleaseApi, type ReleaseApi } from "../../support/services/release-api.ts";

let platform: TestPlatform;
let delegate: Delegate;
let api: ReleaseApi;
const place = createPlace();

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  delegate = await startRealDelegate(platform, place);
  api = await startReleaseApi();
});

after(async () => {
  await delegate?.stop();
  await platform?.stop();
  api?.stop();
  place.remove();
});

const http = (spec: object): object => ({
  step: { type: "Http", name: "call", identifier: "call", timeout: "1m", spec: { method: "GET", ...spec } },
});

/** Runs one Http step; returns its failure. */
async function failureOf(id: string, spec: object) {
  await addStepsPipeline(platform, { id }, [http(spec)]);
  const run = await startRun(platform, `run_${id}`);
  assert.equal(await waitForEnd(platform, run), "FAILED");
  const { message, failureTypeList } = (await detailOf(platform, run)).step("call")["failureInfo"];
  return { message, types: failureTypeList };
}

test("a false assertion, and a server that is away, fail the step with their types", async () => {
  assert.deepEqual(await failureOf("asserts", { url: `${api.url}/other`, assertion: "<+httpResponseCode> < 400" }), {
    message: "Step 'call' failed: the assertion '<+httpResponseCode> < 400' is false for a response with status 500",
    types: ["APPLICATION_ERROR"],
  });
  const { message, types } = await failureOf("unreached", { url: "http://127.0.0.1:1/" });
  assert.deepEqual(types, ["CONNECTIVITY"]);
  assert.match(message, /^Step 'call' failed: .*127\.0\.0\.1:1/);
});

test("an abort ends the request", async () => {
  await addStepsPipeline(platform, { id: "endless" }, [http({ url: `${api.url}/never` })]);
  const id = await startRun(platform, "run_endless");
  await api.unanswered;
  await abortRun(platform, id);
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.equal((await detailOf(platform, id)).step("call")["status"], "Aborted");
});
