/** Principals of executions, and changes of permissions while steps wait: a platform and a real delegate. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Delegate, startDelegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { fromWire, toWire, type Uuid } from "../../../src/core/ids.ts";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  projectYaml,
  SCOPE,
} from "../../support/contract.ts";
import { pipelineYaml, triggerYaml } from "../../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { pretendDelegate } from "../../support/pretend-delegate.ts";
import { detailOf, waitForEnd, logOf } from "../../support/runs.ts";
import { assignServiceAccountRole, serviceToken } from "../../support/service-accounts.ts";

const VALUE = "the value of the waiting secret";
const ANEW = "another value under the same name";
const IN_SHOP = "  orgIdentifier: default\n  projectIdentifier: shop\n";

let platform: TestPlatform;
const places: ReturnType<typeof createPlace>[] = [];
const delegates: Delegate[] = [];
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(async () => {
  for (const delegate of delegates) await delegate.stop();
  await platform?.stop();
  for (const place of places) place.remove();
});

const connect = async (tag: string): Promise<void> => {
  const place = createPlace();
  places.push(place);
  const delegate = await startDelegate(
    {
      socketUrl: `${platform.url.replace("http", "ws")}/delegate/connect`,
      token: await platform.delegateToken(),
      ...{ name: tag, tags: [tag], workDir: place.path, slots: 4 },
      ...{ stepUser: undefined, stepPath: undefined, belongsTo: undefined },
    },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog() },
  );
  delegates.push(delegate);
};

const json = (method: string, path: string, body: object, apiKey?: string): Promise<Answer> =>
  platform.send(method, path, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(body) },
    ...(apiKey === undefined ? {} : { apiKey }),
  });

const secret = (identifier: string, value: string): object => ({
  secret: {
    ...{ type: "SecretText", name: identifier, identifier },
    ...{ orgIdentifier: "default", projectIdentifier: "shop" },
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value },
  },
});
const SECRETS = "/ng/api/v2/secrets";
const addSecret = (identifier: string, value = VALUE): Promise<unknown> =>
  made(json("POST", `${SECRETS}?${SCOPE}`, secret(identifier, value)));
const removeSecret = (identifier: string): Promise<unknown> =>
  made(platform.send("DELETE", `${SECRETS}/${identifier}?${SCOPE}&forceDelete=true`));

type Person = { readonly key: string; readonly id: Uuid; readonly who: string };
/** Creates an administrator of the account. */
async function person(name: string): Promise<Person> {
  const key = await platform.addUser("_account_admin");
  const [row] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  assert.ok(row);
  const email = `${name.toLowerCase()}@example.com`;
  await platform.db.query("update users set name = $2, display_name = $2, email = $3 where id = $1", [
    row.id,
    name,
    email,
  ]);
  return { key, id: row.id, who: name };
}
const by = ({ key }: Pick<Person, "key">): TestPlatform => ({
  ...platform,
  send: (method, path, options) => platform.send(method, path, { apiKey: key, ...options }),
});

const deactivate = ({ id }: Person): Promise<unknown> =>
  made(json("POST", `/ng/api/user/${toWire(id)}/deactivate`, {}));
async function loseRoles({ id }: Person): Promise<void> {
  const rows = await platform.db.query<{ identifier: string }>(
    "select identifier from role_assignments where principal_id = $1",
    [id],
  );
  for (const { identifier } of rows) await made(platform.send("DELETE", `/authz/api/roleassignments/${identifier}`));
}

/** A pipeline whose step gets the secret, on a delegate with the tag. */
const asks = (pipeline: string, name: string, tag = "late"): string =>
  pipelineYaml(pipeline, `<+secrets.getValue("${name}")>`)
    .replace("echo $VALUE", `'echo it has $(printf %s "$VALUE" | wc -c) bytes'`)
    .replace("onDelegate: true", `onDelegate: true\n                    delegateSelectors: [${tag}]`)
    .replace("timeout: 1m", "timeout: 1d");

/** Starts the pipeline manually. */
async function run(pipeline: string, as?: Pick<Person, "key">): Promise<string> {
  const data = await made(create.run(as ? by(as) : platform, pipeline));
  return data.planExecution.uuid;
}

/** Calls the webhook of a trigger and returns the row of the delivery. */
async function call(webhookUrl: string, payload = "{}"): Promise<{ status: string; message: string; id: string }> {
  const response = await fetch(webhookUrl, { method: "POST", body: payload });
  const { data } = (await response.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string; id: Uuid | null }>(
      "select status, message, execution_id as id from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? { status: row.status, message: row.message, id: row.id ? toWire(row.id) : "" } : undefined;
  });
}
async function hook(pipeline: string, as: Person, more = ""): Promise<string> {
  return (await made(create.trigger(by(as), pipeline, triggerYaml(pipeline, `${pipeline}_hook`, more)))).webhookUrl;
}
async function started(webhookUrl: string): Promise<string> {
  const { status, message, id } = await call(webhookUrl);
  assert.equal(status, "TARGET_EXECUTION_REQUESTED", message);
  return id;
}

/** Returns the audit entries about deliveries to the steps of an execution. */
async function deliveries(id: string) {
  const list = await made(json("POST", "/audit/api/audits/list?pageSize=200", {}));
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
  const all = list.content as any[];
  return all.filter((one) => one.action === "DELIVER" && JSON.stringify(one).includes(id));
}

type Case = { readonly id: string; readonly message: string; readonly change: () => Promise<unknown> };

test("a waiting step gets no secret once one of its principals may not use it, or once it is another secret", async () => {
  const cases: Record<string, Case> = {};

  await addSecret("recreated");
  await made(create.pipeline(platform, asks("recreating", "recreated")));
  cases["a secret of the same name"] = {
    id: await run("recreating"),
    message: "Secret 'recreated' was deleted after the execution started.",
    change: async () => {
      await removeSecret("recreated");
      await addSecret("recreated", ANEW);
    },
  };

  await addSecret("plain");
  await made(create.pipeline(platform, asks("plain", "plain")));
  const leaver = await person("Leaver");
  cases["the starter was deactivated"] = {
    id: await run("plain", leaver),
    message: `The execution was started by ${leaver.who}, whose account is deactivated.`,
    change: () => deactivate(leaver),
  };
  const deleted = await person("Deleted");
  cases["the starter was deleted"] = {
    id: await run("plain", deleted),
    message: `The execution was started by ${deleted.who}, whose account is deleted.`,
    change: () => made(platform.send("DELETE", `/ng/api/user/${toWire(deleted.id)}`)),
  };
  const demoted = await person("Demoted");
  cases["the starter's role was revoked"] = {
    id: await run("plain", demoted),
    message: `The execution was started by ${demoted.who}, who may no longer execute pipeline 'plain'.`,
    change: () => loseRoles(demoted),
  };

  await made(create.pipeline(platform, asks("dropped", "plain")));
  cases["the pipeline was deleted"] = {
    id: await run("dropped"),
    message: "Pipeline 'dropped' was deleted after the execution started.",
    change: () => made(platform.send("DELETE", `/pipeline/api/pipelines/dropped?${SCOPE}`)),
  };

  const owner = await person("Owner");
  await made(create.pipeline(platform, asks("untriggered", "plain")));
  cases["the trigger was deleted"] = {
    id: await started(await hook("untriggered", owner)),
    message: "Trigger 'untriggered_hook' was deleted after it started the execution.",
    change: () =>
      made(platform.send("DELETE", `/pipeline/api/triggers/untriggered_hook?${SCOPE}&targetIdentifier=untriggered`)),
  };
  await made(create.pipeline(platform, asks("repeated", "plain")));
  const original = await started(await hook("repeated", owner));
  const path = `/pipeline/api/pipeline/execute/rerun/${original}/repeated?${SCOPE}`;
  const { planExecution: repeated } = await made(platform.send("POST", path));
  cases["the trigger of the repeated execution was deleted"] = {
    id: repeated.uuid,
    message: "Trigger 'repeated_hook' was deleted after it started the execution.",
    change: () =>
      made(platform.send("DELETE", `/pipeline/api/triggers/repeated_hook?${SCOPE}&targetIdentifier=repeated`)),
  };
  const former = await person("Former");
  await made(create.pipeline(platform, asks("owned", "plain")));
  cases["the owner of the trigger was deactivated"] = {
    id: await started(await hook("owned", former)),
    message: `Version 1 of trigger 'owned_hook' is owned by ${former.who}, whose account is deactivated.`,
    change: () => deactivate(former),
  };
  const ada = await person("Ada");
  await made(create.pipeline(by(ada), asks("written", "plain")));
  cases["the author of the pipeline lost the role"] = {
    id: await started(await hook("written", owner)),
    message: `Version 1 of pipeline 'written' was saved by ${ada.who}, who may no longer use service 'web'.`,
    change: () => loseRoles(ada),
  };
  const set = await person("Setter");
  const variables = "  variables: [{ name: x, type: String, value: <+input> }]\n";
  await made(create.pipeline(platform, asks("filled", "plain").replace("  stages:", `${variables}  stages:`)));
  const given = "    variables:\n      - { name: x, type: String, value: a }\n";
  await made(create.inputSet(by(set), "filled", inputSetYaml("filled", "values", given)));
  cases["the author of an input set was deactivated"] = {
    id: await started(await hook("filled", owner, "  inputSetRefs: [values]\n")),
    message: `Version 1 of input set 'values' was saved by ${set.who}, whose account is deactivated.`,
    change: () => deactivate(set),
  };

  await made(json("POST", "/ng/api/serviceaccount", { identifier: "robot", name: "Robot" }));
  await assignServiceAccountRole(platform, "robot", "_account_admin");
  const robot = { key: await serviceToken(platform, "robot") };
  cases["the service account that started it was deleted"] = {
    id: await run("plain", robot),
    message: "The execution was started by a deleted account, whose account is deleted.",
    change: () => made(platform.send("DELETE", "/ng/api/serviceaccount/robot")),
  };

  await made(create.environment(platform, "moving", IN_SHOP));
  await made(create.pipeline(platform, asks("moved", "plain").replace("staging", "moving")));
  cases["an environment of the same name"] = {
    id: await run("moved"),
    message: "The environment 'moving' was deleted after the execution started.",
    change: async () => {
      await made(platform.send("DELETE", `/ng/api/environmentsV2/moving?${SCOPE}`));
      await made(create.environment(platform, "moving", IN_SHOP));
    },
  };

  await addSecret("rotated", "before");
  await made(create.pipeline(platform, asks("rotating", "rotated")));
  const rotated = await run("rotating");
  await made(json("PUT", `${SECRETS}/rotated?${SCOPE}`, secret("rotated", VALUE)));

  for (const { change } of Object.values(cases)) await change();
  platform.clock.advance(1_001);
  await connect("late");

  for (const [what, { id, message }] of Object.entries(cases)) {
    assert.equal(await waitForEnd(platform, id), "FAILED", what);
    const { step } = await detailOf(platform, id);
    const { failureInfo } = step("go");
    assert.deepEqual(
      [failureInfo.failureTypeList, failureInfo.message],
      [["AUTHORIZATION_ERROR"], `Step 'Go' failed: ${message}`],
      what,
    );
    assert.doesNotMatch(await logOf(platform, id), /it has/, what);
    const [entry, ...more] = await deliveries(id);
    assert.deepEqual(
      [entry?.auditEventData?.type, entry?.auditEventData?.status, more.length],
      ["REFUSAL", 403, 0],
      what,
    );
    assert.ok(entry.yamlDiffRecord.newYaml.includes(`reason: `), what);
  }

  assert.equal(await waitForEnd(platform, rotated), "SUCCESS");
  assert.match(await logOf(platform, rotated), new RegExp(`it has ${VALUE.length} bytes`), "the rotated value");
  const [entry, ...more] = await deliveries(rotated);
  assert.equal(more.length, 0);
  const { step } = await detailOf(platform, rotated);
  const [{ id } = { id: "" }] = await platform.db.query<{ id: Uuid }>(
    "select id from secrets where identifier = 'rotated'",
  );
  assert.deepEqual(
    [entry.action, entry.resource.type, entry.resource.identifier, entry.auditEventData.type],
    ["DELIVER", "SECRET", "rotated", "CHANGES"],
  );
  assert.deepEqual(
    [entry.authenticationInfo.principal.type, entry.authenticationInfo.labels.username],
    ["DELEGATE", "late"],
  );
  assert.equal(
    entry.yamlDiffRecord.newYaml,
    `execution: ${rotated}\nnode: ${step("go")["uuid"]}\nattempt: 1\ndelegate: late\nproject: default/shop\nid: ${toWire(id as Uuid)}\n`,
  );
});

test("an expression for a secret in a webhook's payload stays text", async () => {
  await addSecret("out_of_reach");
  const yaml = asks("echoes", "plain").replace('<+secrets.getValue("plain")>', "<+trigger.payload.x>");
  await made(create.pipeline(platform, yaml));
  const payload = JSON.stringify({ x: '<+secrets.getValue("out_of_reach")>' });
  const owner = await person("Echo");
  const { id } = await call(await hook("echoes", owner), payload);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.match(await logOf(platform, id), new RegExp(`it has ${JSON.parse(payload).x.length} bytes`));
  assert.deepEqual(await deliveries(id), []);
});

test("an execution from before plans had ids gets its secrets by name, with the same check of its starter", async () => {
  await addSecret("by_name");
  await made(create.pipeline(platform, asks("older", "by_name", "older")));
  const [stays, leaves] = [await person("Stays"), await person("Leaves")];
  const [fine, refused] = [await run("older", stays), await run("older", leaves)];
  await platform.db.query("update executions set plan = (plan::jsonb - 'references')::json where id = any ($1)", [
    [fine, refused].map((id) => fromWire(id)),
  ]);
  // An execution without principals gets no secret.
  const withoutPrincipals = await run("older", stays);
  await platform.db.query("update executions set principals = '[]' where id = $1", [fromWire(withoutPrincipals)]);
  await loseRoles(leaves);
  platform.clock.advance(1_001);
  await connect("older");
  assert.equal(await waitForEnd(platform, fine), "SUCCESS");
  assert.equal(await waitForEnd(platform, refused), "FAILED");
  assert.deepEqual((await detailOf(platform, refused)).step("go")["failureInfo"].failureTypeList, [
    "AUTHORIZATION_ERROR",
  ]);
  assert.equal(await waitForEnd(platform, withoutPrincipals), "FAILED");
  assert.match(
    (await detailOf(platform, withoutPrincipals)).step("go")["failureInfo"].message,
    /The execution has no known author/,
  );
});

test("a login on a host is refused once its credential or a secret of it is another one, or the starter may not use it", async () => {
  for (const name of ["pw_a", "pw_b", "pw_c"]) await addSecret(name);
  const login = (identifier: string, password: string): object => ({
    secret: {
      ...{ type: "SSHKey", name: identifier, identifier, orgIdentifier: "default", projectIdentifier: "shop" },
      spec: {
        port: 22,
        auth: { type: "SSH", spec: { credentialType: "Password", spec: { userName: "x", password } } },
      },
    },
  });
  const addLogin = (identifier: string, password: string): Promise<unknown> =>
    made(json("POST", `${SECRETS}?${SCOPE}`, login(identifier, password)));
  const onHost = (pipeline: string, credential: string): string =>
    asks(pipeline, "pw_a", "far")
      .replace("onDelegate: true", "onDelegate: false")
      .replace("executionTarget: {}", `executionTarget: { host: web1.example.com, connectorRef: ${credential} }`)
      .replace(/environmentVariables: .*/, "environmentVariables: []");
  const cases: Record<string, { id: string; message: string }> = {};
  for (const [credential, password] of [
    ["same", "pw_a"],
    ["swapped", "pw_b"],
    ["taking", "pw_c"],
  ] as const) {
    await addLogin(credential, password);
    await made(create.pipeline(platform, onHost(`on_${credential}`, credential)));
  }
  const starter = await person("Remote");
  cases["the credential"] = { id: await run("on_swapped"), message: "Secret 'swapped' was deleted" };
  cases["its password"] = { id: await run("on_taking"), message: "Secret 'pw_c' was deleted" };
  cases["the starter"] = { id: await run("on_same", starter), message: "who may no longer execute pipeline 'on_same'" };
  const fine = await run("on_same");
  await removeSecret("swapped");
  await addLogin("swapped", "pw_b");
  await removeSecret("pw_c");
  await addSecret("pw_c", ANEW);
  await loseRoles(starter);
  platform.clock.advance(1_001);
  const delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), tags: ["far"] });
  for (const [what, { id, message }] of Object.entries(cases)) {
    assert.equal(await waitForEnd(platform, id), "FAILED", what);
    const { failureInfo } = (await detailOf(platform, id)).step("go");
    assert.deepEqual(
      [failureInfo.failureTypeList, failureInfo.message.includes(message)],
      [["AUTHORIZATION_ERROR"], true],
      what,
    );
  }
  // Only one secret was sent: the password of the unchanged credential.
  const { data } = await delegate.next("secret");
  assert.equal(Buffer.from(data, "base64").toString(), VALUE);
  delegate.finish(await delegate.next("run"));
  assert.equal(await waitForEnd(platform, fine), "SUCCESS");
  assert.deepEqual(
    delegate.waiting().filter(({ kind }) => kind === "secret" || kind === "run"),
    [],
  );
  const names = new Set((await deliveries(fine)).map(({ resource }) => String(resource.identifier)));
  assert.deepEqual(
    names.symmetricDifference(new Set(["pw_a", "same"])).size,
    0,
    "the credential, and the password that it takes",
  );
  await delegate.close();
});
