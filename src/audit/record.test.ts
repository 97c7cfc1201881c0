import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../core/ids.ts";
import {
  connectorYaml,
  create,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../test/support/contract.ts";
import { handClock, startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { createAudit } from "./record.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

test("each change is recorded once, with actor, operation and scope", async () => {
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.connector(platform, connectorYaml()));
  await made(create.pipeline(platform, pipelineYaml()));
  await made(create.trigger(platform, "deploy", triggerYaml()));
  const { planExecution } = await made(create.run(platform, "deploy"));
  await made(
    platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${planExecution.uuid}?interruptType=AbortAll`),
  );
  assert.equal((await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=t")).status, 200);
  const rows = await platform.db.query<Record<string, unknown>>(
    `select operation, resource_type, resource_id, org_identifier, project_identifier, actor_kind, actor_name, at from audit_entries order by id`,
  );
  const who = { actor_kind: "user", actor_name: "admin", at: platform.clock.now() };
  const shop = { org_identifier: "default", project_identifier: "shop", ...who };
  const account = { org_identifier: null, project_identifier: null, ...who };
  assert.deepEqual(rows, [
    { operation: "project.create", resource_type: "PROJECT", resource_id: "shop", ...shop },
    { operation: "connector.create", resource_type: "CONNECTOR", resource_id: "cluster", ...shop },
    { operation: "service.create", resource_type: "SERVICE", resource_id: "web", ...shop },
    { operation: "environment.create", resource_type: "ENVIRONMENT", resource_id: "staging", ...shop },
    { operation: "connector.create", resource_type: "CONNECTOR", resource_id: "registry", ...account },
    { operation: "pipeline.create", resource_type: "PIPELINE", resource_id: "deploy", ...shop },
    { operation: "trigger.create", resource_type: "PIPELINE", resource_id: "deploy/hook", ...shop },
    { operation: "execution.start", resource_type: "PIPELINE", resource_id: "deploy", ...shop },
    { operation: "execution.abort", resource_type: "PIPELINE", resource_id: "deploy", ...shop },
    { operation: "delegate-token.create", resource_type: "DELEGATE", resource_id: "t", ...account },
  ]);
});

test("an entry is rolled back with its change, and no change is committed without it", async () => {
  const accountId = fromWire(platform.accountId) as Uuid;
  const id = "01a1fc75-fee1-7000-8000-00000000000a" as Uuid;
  const audit = createAudit({ clock: handClock(), newId: () => id });
  const change = { operation: "x.y", resourceType: "X", resourceId: "x", scope: {} };
  const record = (fail: boolean): Promise<void> =>
    platform.db.transaction(async (tx) => {
      await audit.record(tx, { kind: "system", accountId }, change);
      if (fail) throw new Error("no");
    });
  await assert.rejects(record(true), /no/);
  const rows = () =>
    platform.db.query("select actor_kind, actor_id, actor_name from audit_entries where operation = 'x.y'");
  assert.deepEqual(await rows(), []);
  await record(false);
  assert.deepEqual(await rows(), [{ actor_kind: "system", actor_id: null, actor_name: "system" }]);
  await platform.db.query(
    "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'full'; end $$",
  );
  await platform.db.query(
    "create trigger refuse before insert on audit_entries for each row execute function refuse()",
  );
  const answer = await create.project(platform, projectYaml("unaudited"));
  assert.equal(answer.status, 500);
  assert.match(answer.body.message, new RegExp(`correlation id ${answer.body.correlationId}`));
  assert.doesNotMatch(answer.text, /full|raise|plpgsql|audit/);
  assert.deepEqual(await platform.db.query("select 1 from projects where identifier = 'unaudited'"), []);
});
