/** Whom an execution with a chained pipeline of another project acts for: at its start, and when a step gets a secret. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import { assignRole } from "../../support/access.ts";
import { create, eventually, JSON_TYPE, made, triggerYaml } from "../../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { detailOf, logOf, waitForEnd } from "../../support/runs.ts";

const project = (identifier: string) => ({ orgIdentifier: "default", projectIdentifier: identifier });
/** Triggers of the support are in the project `shop`. */
const [HOME, OTHER] = [project("shop"), project("ops")];
const query = (place: typeof HOME): string => new URLSearchParams(place).toString();

let platform: TestPlatform;
let delegate: Delegate | undefined;
const place = createPlace();

before(async () => {
  platform = await startTestPlatform();
  for (const { projectIdentifier: identifier } of [HOME, OTHER])
    await made(
      json("POST", "/ng/api/projects?orgIdentifier=default", {
        project: { name: identifier, identifier, orgIdentifier: "default" },
      }),
    );
});
after(async () => {
  await delegate?.stop();
  await platform?.stop();
  place.remove();
});

const json = (method: string, path: string, body: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, path, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(body) },
    ...(apiKey === undefined ? {} : { apiKey }),
  });

type Person = { readonly key: string; readonly id: Uuid; readonly who: string };

/** A person with a role in each of the projects. */
async function person(
  name: string,
  inHome: "_project_admin" | "_pipeline_executor" = "_project_admin",
  inOther?: "_project_admin" | "_pipeline_executor" | "_project_viewer",
): Promise<Person> {
  const key = await platform.addUser(inHome, HOME);
  const [row] = await platform.db.query<{ id: Uuid; accountId: Uuid }>(
    `select id, account_id as "accountId" from users order by id desc limit 1`,
  );
  assert.ok(row);
  const email = `${name.toLowerCase()}@example.com`;
  await platform.db.query("update users set name = $2, display_name = $2, email = $3 where id = $1", [
    ...[row.id, name, email],
  ]);
  if (inOther) await assignRole(platform.db, { accountId: row.accountId, userId: row.id, role: inOther, at: 0 }, OTHER);
  return { key, id: row.id, who: name };
}

async function loseOther({ id }: Person): Promise<void> {
  const rows = await platform.db.query<{ identifier: string }>(
    "select identifier from role_assignments where principal_id = $1 and project_identifier = 'ops'",
    [id],
  );
  for (const { identifier } of rows)
    await made(platform.send("DELETE", `/authz/api/roleassignments/${identifier}?${query(OTHER)}`));
}

const secret = (identifier: string, value: string, at: typeof HOME): Promise<unknown> =>
  made(
    json("POST", `/ng/api/v2/secrets?${query(at)}`, {
      secret: {
        ...{ type: "SecretText", name: identifier, identifier, ...at },
        spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value },
      },
    }),
  );

const save = (identifier: string, at: typeof HOME, stage: object, by?: Person): Promise<unknown> =>
  made(
    json(
      ...(["POST", `/pipeline/api/pipelines?${query(at)}`] as const),
      {
        pipeline: {
          name: identifier,
          identifier,
          ...at,
          stages: [{ stage: { name: "S", identifier: "s", ...stage } }],
        },
      },
      by?.key,
    ),
  );

const script = (name: string): object => ({
  step: {
    ...{ type: "ShellScript", name: "Go", identifier: "go", timeout: "1d" },
    spec: {
      ...{ shell: "Bash", onDelegate: true },
      source: { type: "Inline", spec: { script: `[ "<+secrets.getValue("${name}")>" = "of ops" ] && echo "right"` } },
    },
  },
});

/** A pipeline of the other project whose step gets a secret of it, and one that chains it. */
async function chain(name: string, { child, parent }: { child?: Person; parent?: Person } = {}): Promise<void> {
  const execution = { steps: [script(`${name}_key`)] };
  await secret(`${name}_key`, "of ops", OTHER);
  await secret(`${name}_key`, "of shop", HOME);
  await save(`${name}_child`, OTHER, { type: "Custom", spec: { execution } }, child);
  const spec = { org: "default", project: "ops", pipeline: `${name}_child` };
  await save(name, HOME, { type: "Pipeline", spec }, parent);
}

const start = (name: string, as?: Person): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipeline/execute/${name}?${query(HOME)}`, as ? { apiKey: as.key } : {});
const run = async (name: string, as?: Person): Promise<string> => (await made(start(name, as))).planExecution.uuid;

async function hook(name: string, as: Person): Promise<{ status: string; message: string; id: string }> {
  const by = {
    ...platform,
    send: ((method, path, how) => platform.send(method, path, { apiKey: as.key, ...how })) as TestPlatform["send"],
  };
  const { webhookUrl } = await made(create.trigger(by, name, triggerYaml(name, `${name}_hook`)));
  const { data } = (await (await fetch(webhookUrl, { method: "POST", body: "{}" })).json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string; id: Uuid | null }>(
      "select status, message, execution_id as id from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? { status: row.status, message: row.message, id: row.id ? toWire(row.id) : "" } : undefined;
  });
}

test("who may not execute the chained pipeline cannot start one that chains it", async () => {
  await chain("guarded");
  const stranger = await person("Stranger", "_pipeline_executor");
  const hidden = await start("guarded", stranger);
  assert.deepEqual([hidden.status, hidden.body.code], [400, "INVALID_REQUEST"], hidden.text);
  assert.match(hidden.body.message, /No pipeline 'guarded_child' exists in project 'ops'/);
  const reader = await start("guarded", await person("Reader", "_pipeline_executor", "_project_viewer"));
  assert.deepEqual([reader.status, reader.body.code], [403, "NG_ACCESS_DENIED"], reader.text);
  assert.match(reader.text, /core_pipeline_execute/);
});

test("a trigger runs it if its owner and the authors of the pipelines around may execute it", async () => {
  const [owner, both] = [
    await person("Owner", "_project_admin", "_project_admin"),
    await person("Both", "_project_admin", "_project_admin"),
  ];
  await chain("hooked", { child: both, parent: both });
  const fine = await hook("hooked", owner);
  assert.equal(fine.status, "TARGET_EXECUTION_REQUESTED", fine.message);
  const rows = await platform.db.query<{ principals: readonly { authored: object }[] }>(
    "select principals from executions order by id desc limit 1",
  );
  assert.deepEqual(
    rows[0]?.principals.map(({ authored }) => ({ ...authored, id: undefined })),
    [
      { type: "trigger", id: undefined, identifier: "hooked_hook", version: 1 },
      { type: "pipeline", id: undefined, identifier: "hooked", version: 1 },
      { type: "pipeline", id: undefined, identifier: "hooked_child", version: 1, chained: 1 },
    ],
  );
  const local = await person("Local");
  await chain("foreign", { child: both, parent: both });
  assert.match(
    (await hook("foreign", local)).message,
    /who may no longer execute pipeline 'foreign_child' of project 'ops'/,
  );
  // The same of a pipeline that is not there: who may not execute it is not told.
  await chain("gone", { child: both, parent: both });
  await made(platform.send("DELETE", `/pipeline/api/pipelines/gone_child?${query(OTHER)}`));
  assert.match((await hook("gone", local)).message, /who may no longer execute pipeline 'gone_child' of project 'ops'/);
  const former = await person("Former", "_project_admin", "_project_admin");
  await chain("authored", { child: both, parent: former });
  await loseOther(former);
  assert.match(
    (await hook("authored", owner)).message,
    /^Stage 's' cannot run pipeline 'authored_child': Version 1 of pipeline 'authored' was saved by Former .*, who may no longer execute pipeline 'authored_child'/,
  );
});

test("its step gets the secret of its own project, as long as all of them may use it", async () => {
  const [fine, deleted, anew, lost, left] = ["fine", "deleted", "anew", "lost", "left"] as const;
  const both = await person("Saver", "_project_admin", "_project_admin");
  for (const name of [fine, deleted, anew, lost]) await chain(name);
  const author = await person("Author", "_project_admin", "_project_admin");
  await chain(left, { child: author, parent: both });
  const starter = await person("Starter", "_project_admin", "_project_admin");
  const runs = {
    [fine]: await run(fine),
    [deleted]: await run(deleted),
    [anew]: await run(anew),
    [lost]: await run(lost, starter),
    [left]: (await hook(left, both)).id,
  };
  await made(platform.send("DELETE", `/pipeline/api/pipelines/deleted_child?${query(OTHER)}`));
  await made(platform.send("DELETE", `/ng/api/v2/secrets/anew_key?${query(OTHER)}&forceDelete=true`));
  await secret("anew_key", "of ops", OTHER);
  await loseOther(starter);
  await made(json("POST", `/ng/api/user/${toWire(author.id)}/deactivate`, {}));
  delegate = await startDelegate(
    {
      socketUrl: `${platform.url.replace("http", "ws")}/delegate/connect`,
      token: await platform.delegateToken(),
      ...{ name: "real", tags: [], workDir: place.path, slots: 4 },
      ...{ stepUser: undefined, stepPath: undefined, belongsTo: undefined },
    },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
  const messages: readonly (readonly [keyof typeof runs, string])[] = [
    [deleted, "Pipeline 'deleted_child' was deleted after the execution started."],
    [anew, "Secret 'anew_key' was deleted after the execution started."],
    [
      lost,
      `The execution was started by ${starter.who}, who may no longer execute pipeline 'lost_child' of project 'ops'.`,
    ],
    [left, `Version 1 of pipeline 'left_child' was saved by ${author.who}, whose account is deactivated.`],
  ];
  for (const [name, message] of messages) {
    assert.equal(await waitForEnd(platform, runs[name]), "FAILED", name);
    const { failureInfo } = (await detailOf(platform, runs[name])).step("go");
    assert.deepEqual(
      [failureInfo.failureTypeList, failureInfo.message],
      [["AUTHORIZATION_ERROR"], `Step 'Go' failed: ${message}`],
      name,
    );
  }
  assert.equal(await waitForEnd(platform, runs[fine]), "SUCCESS");
  assert.equal(await logOf(platform, runs[fine]), "right\n");
});
