/** Queued executions that may not begin, or cannot be read, and those behind them. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { assignRole } from "../../../test/support/access.ts";
import { eventually, JSON_TYPE, made } from "../../../test/support/contract.ts";
import { passLocks, waitStep } from "../../../test/support/locks.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { abortRun, detailOf } from "../../../test/support/runs.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

const place = (projectIdentifier: string) => ({ orgIdentifier: "default", projectIdentifier });
type Place = ReturnType<typeof place>;
const [HOME, OTHER] = [place("home"), place("other")];
const query = (of: Place): string => new URLSearchParams(of).toString();

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  for (const { projectIdentifier: identifier } of [HOME, OTHER])
    await made(
      json("POST", "/ng/api/projects?orgIdentifier=default", {
        project: { name: identifier, identifier, orgIdentifier: "default" },
      }),
    );
  await save("plain", HOME, WAITS);
  await save("child", OTHER, WAITS);
  const setting = { identifier: "concurrent_executions_per_account", value: "1", updateType: "UPDATE" };
  await made(json("PUT", "/ng/api/settings", [{ ...setting, allowOverrides: true }]));
  platform.clock.advance(1_001);
});
after(() => platform?.stop());

const json = (method: string, path: string, body: object): Promise<Answer> =>
  platform.send(method, path, { contentType: JSON_TYPE, body: JSON.stringify(body) });

const WAITS = { type: "Custom", spec: { execution: { steps: [waitStep("work")] } } };

const save = (identifier: string, at: Place, ...stages: readonly object[]): Promise<unknown> =>
  made(
    json("POST", `/pipeline/api/pipelines?${query(at)}`, {
      pipeline: {
        ...{ name: identifier, identifier, ...at },
        stages: stages.map((stage, nth) => ({ stage: { name: `S${nth}`, identifier: `s${nth}`, ...stage } })),
      },
    }),
  );

const start = async (pipeline: string, { on = platform, apiKey = platform.apiKey } = {}): Promise<string> =>
  (await made(on.send("POST", `/pipeline/api/pipeline/execute/${pipeline}?${query(HOME)}`, { apiKey }))).planExecution
    .uuid;

const statuses = async (...ids: readonly string[]): Promise<string> =>
  (await Promise.all(ids.map(async (id) => (await detailOf(platform, id)).status))).join(" ");

const messageOf = async (id: string): Promise<string> => {
  const { graph } = await detailOf(platform, id);
  return graph.nodeMap[graph.rootNodeId].failureInfo.message;
};

/** The execution that leaves no free place, until it is aborted. */
let running: string;
beforeEach(async () => {
  for (const { id } of await platform.db.query<{ id: Uuid }>("select id from executions where ended_at is null"))
    await abortRun(platform, toWire(id));
  running = await start("plain");
});

/** Starts another one behind the queued ones, frees the place, and returns the status of all. */
async function freePlace(...queued: readonly string[]): Promise<string> {
  const next = await start("plain");
  platform.clock.advance(1_001);
  await abortRun(platform, running);
  await passLocks(platform);
  await passLocks(platform);
  return statuses(...queued, next);
}

type Person = { readonly apiKey: string; readonly id: Uuid };

/** A user who may execute the pipelines of both projects. */
async function person(): Promise<Person> {
  const apiKey = await platform.addUser("_project_admin", HOME);
  const [row] = await platform.db.query<{ id: Uuid; accountId: Uuid }>(
    `select id, account_id as "accountId" from users order by id desc limit 1`,
  );
  assert.ok(row);
  await assignRole(platform.db, { accountId: row.accountId, userId: row.id, role: "_project_admin", at: 0 }, OTHER);
  return { apiKey, id: row.id };
}

const loseRole = ({ id }: Person, { projectIdentifier }: Place): Promise<unknown> =>
  platform.db.query("delete from role_assignments where principal_id = $1 and project_identifier = $2", [
    id,
    projectIdentifier,
  ]);

test("a queued execution whose plan or principals cannot be read ends as errored; the next one begins", async () => {
  // Plans that this server has made are in its memory.
  const replica = await platform.replica();
  const damaged: string[] = [];
  for (const damage of ["plan = '{}'", "plan = '[]'", "principals = '{}'"]) {
    const id = await start("plain", { on: replica });
    await platform.db.query(`update executions set ${damage} where id = $1`, [fromWire(id)]);
    damaged.push(id);
  }
  assert.equal(await freePlace(...damaged), "Errored Errored Errored Running");
});

const chains = (pipeline: string) => ({ type: "Pipeline", spec: { org: "default", project: "other", pipeline } });

test("a queued execution does not begin once its starter may not execute a chained pipeline", async () => {
  await save("outer", HOME, WAITS, chains("child"));
  const [starter, other] = [await person(), await person()];
  const [refused, permitted] = [await start("outer", starter), await start("outer", other)];
  await loseRole(starter, OTHER);
  assert.equal(await freePlace(refused, permitted), "Aborted Running Queued");
  assert.match(await messageOf(refused), /who may no longer execute pipeline 'child' of project 'other'\.$/);
});

test("a queued execution does not begin once its starter may not use what a chained pipeline names", async () => {
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const secret = { type: "SecretText", name: "key", identifier: "key", ...OTHER, spec };
  await made(json("POST", `/ng/api/v2/secrets?${query(OTHER)}`, { secret }));
  const source = { type: "Inline", spec: { script: `echo <+secrets.getValue("key")>` } };
  const script = { type: "ShellScript", name: "go", identifier: "go" };
  const step = { step: { ...script, spec: { shell: "Bash", onDelegate: true, source } } };
  await save("secretive", OTHER, { type: "Custom", spec: { execution: { steps: [waitStep("work"), step] } } });
  await save("above", OTHER, chains("secretive"));
  await save("top", HOME, chains("above"));
  const starter = await person();
  const refused = await start("top", starter);
  await loseRole(starter, OTHER);
  const role = { identifier: "runner", name: "runner", permissions: ["core_pipeline_view", "core_pipeline_execute"] };
  await made(json("POST", "/authz/api/roles", role));
  const assignment = { roleIdentifier: "runner", resourceGroupIdentifier: "_all_resources_including_child_scopes" };
  const principal = { identifier: toWire(starter.id), type: "USER" };
  await made(json("POST", "/authz/api/roleassignments", { ...assignment, principal }));
  assert.equal(await freePlace(refused), "Aborted Running");
  assert.match(await messageOf(refused), /who may no longer use secret 'key'\.$/);
});

test("a queued execution does not begin once a chained pipeline is deleted, also if another one has its name", async () => {
  await save("inner", OTHER, WAITS);
  await save("around", HOME, chains("inner"));
  const refused = await start("around");
  await made(platform.send("DELETE", `/pipeline/api/pipelines/inner?${query(OTHER)}`));
  await save("inner", OTHER, WAITS);
  assert.equal(await freePlace(refused), "Aborted Running");
  assert.equal(
    await messageOf(refused),
    "Aborted by the system: Pipeline 'inner' was deleted after the execution started.",
  );
});

test("a queued execution does not begin once its trigger is deleted", async () => {
  const source = { type: "Webhook", spec: { type: "Custom", spec: { payloadConditions: [], headerConditions: [] } } };
  const target = `${query(HOME)}&targetIdentifier=plain`;
  const startBy = async (identifier: string): Promise<string> => {
    const trigger = { name: identifier, identifier, ...HOME, pipelineIdentifier: "plain", source };
    const { webhookUrl } = await made(json("POST", `/pipeline/api/triggers?${target}`, { trigger }));
    const { data } = (await (await fetch(webhookUrl, { method: "POST", body: "{}" })).json()) as Answer["body"];
    const id = await eventually(async () => {
      const [row] = await platform.db.query<{ id: Uuid | null }>(
        "select execution_id as id from webhook_deliveries where correlation_id = $1",
        [data.eventCorrelationId],
      );
      return row?.id ?? undefined;
    });
    return toWire(id);
  };
  const [refused, permitted] = [await startBy("hook"), await startBy("other_hook")];
  await made(platform.send("DELETE", `/pipeline/api/triggers/hook?${target}`));
  assert.equal(await freePlace(refused, permitted), "Aborted Running Queued");
  assert.equal(
    await messageOf(refused),
    "Aborted by the system: Trigger 'hook' was deleted after it started the execution.",
  );
});

test("why an execution did not begin is stored without the address of a person", async () => {
  const starter = await person();
  const refused = await start("plain", starter);
  await platform.db.query("update users set name = 'Ada', email = 'ada@example.com' where id = $1", [starter.id]);
  await loseRole(starter, HOME);
  assert.equal(await freePlace(refused), "Aborted Running");
  assert.equal(
    await messageOf(refused),
    "Aborted by the system: The execution was started by Ada, who may no longer execute pipeline 'plain'.",
  );
});
