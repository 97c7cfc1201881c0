/** Followers at a server that gets no notification from the one that changes executions: the poll finds the changes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createFollower } from "../../../test/support/clients/follower.ts";
import { createProjectFollower } from "../../../test/support/clients/project-follower.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, createPipelines, startRun } from "../../../test/support/runs.ts";

let here: TestPlatform;
let there: TestPlatform;

before(async () => {
  here = await startTestPlatform({ wrapDb: (db) => ({ ...db, notify: async () => undefined }) });
  there = await here.replica();
  await createPipelines(here, { id: "one", steps: [{ id: "a" }] });
});
after(() => here?.stop());

test("the poll of a server finds what another one has changed in a followed execution, and in a followed project", async () => {
  const id = await startRun(here, "one");
  const [execution, project] = [createFollower(id), createProjectFollower()];
  for (const follower of [execution, project]) assert.equal(await follower.connect(there), 200);
  await execution.until(() => execution.lastEventId() !== undefined);
  await project.read();
  assert.equal(project.shown.get(id).status, "Running");
  await abortRun(here, id);
  await there.platform.sweep();
  await execution.read();
  assert.equal(execution.status(), "Aborted");
  await project.until(() => project.shown.get(id).status === "Aborted");
  await project.disconnect();
});
