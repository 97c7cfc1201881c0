/**
 * The program of a secret manager may take seconds to open a secret. What counts is what holds when it has answered: a
 * principal of the execution, or of a connector's test, that has lost account or permission by then gets nothing sent.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import {
  connectorYaml,
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  YAML,
} from "../../../test/support/contract.ts";
import { startKeyProgram, type KeyProgram } from "../../../test/support/services/key-program.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { connectionOf, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";
import { toWire, type Uuid } from "../../core/ids.ts";

let platform: TestPlatform;
let program: KeyProgram;
let delegate: PretendDelegate;
let delegateToken: string;
before(async () => {
  program = await startKeyProgram();
  platform = await startTestPlatform({ secretCommands: new Map([["keys", program.words]]) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const manager = { name: "slow", identifier: "slow", type: "Command", spec: { command: "keys" } };
  await made(json("POST", "/ng/api/secret-managers", { secretManager: manager }));
  delegateToken = await platform.delegateToken();
  await join();
});
after(async () => {
  await platform?.stop();
  program?.stop();
});
afterEach(() => program.release());

const json = (method: string, path: string, body: object): Promise<Answer> =>
  platform.send(method, path, { contentType: JSON_TYPE, body: JSON.stringify(body) });

async function join(): Promise<void> {
  delegate = await pretendDelegate({ url: platform.url, token: delegateToken, name: "d1", tags: ["x"] });
  await delegate.next("welcome");
}

let nth = 0;
const newName = (): string => `thing_${(nth += 1)}`;

async function newSecret(): Promise<string> {
  const name = newName();
  const spec = { secretManagerIdentifier: "slow", valueType: "Inline", value: `value of ${name}` };
  await made(json("POST", "/ng/api/v2/secrets", { secret: { type: "SecretText", name, identifier: name, spec } }));
  return name;
}

/** A person who may run pipelines and test connections; and, until `loseAccess`, use secrets. */
async function newPerson() {
  const apiKey = await platform.addUser("_account_viewer");
  const [user] = await platform.db.query<{ id: Uuid }>("select id from users order by id desc limit 1");
  const id = user?.id ?? assert.fail();
  const give = async (permissions: readonly string[]): Promise<() => Promise<unknown>> => {
    const name = newName();
    await made(json("POST", "/authz/api/roles", { identifier: name, name, permissions }));
    const { roleAssignment } = await made(
      json("POST", "/authz/api/roleassignments", {
        principal: { identifier: toWire(id), type: "USER" },
        ...{ roleIdentifier: name, resourceGroupIdentifier: "_all_resources_including_child_scopes" },
      }),
    );
    return () => made(platform.send("DELETE", `/authz/api/roleassignments/${roleAssignment.identifier}`));
  };
  await give([
    ...["core_pipeline_execute", "core_environment_access", "core_service_access", "core_connector_access"],
    ...["core_environment_view", "core_service_view"],
  ]);
  const loseAccess = await give(["core_secret_access"]);
  platform.clock.advance(1_001);
  const leave = async (): Promise<unknown> => {
    const left = await made(json("POST", `/ng/api/user/${toWire(id)}/deactivate`, {}));
    platform.clock.advance(1_001);
    return left;
  };
  return { apiKey, id, leave, loseAccess };
}
type Person = Awaited<ReturnType<typeof newPerson>>;

type Loss = { readonly lose: (person: Person, secret: string) => Promise<unknown>; readonly code: string };
const remove = (secret: string): Promise<unknown> =>
  made(platform.send("DELETE", `/ng/api/v2/secrets/${secret}?forceDelete=true`));

const deliveries = (secret: string) =>
  platform.db.query<{ outcome: string; code: string | null }>(
    "select outcome, code from audit_entries where operation = 'secret.deliver' and resource_id = $1 order by id",
    [secret],
  );
/** What the delegate was sent of a task. */
const sent = (): readonly string[] => delegate.waiting().map(({ kind }) => kind);

async function start(secret: string, { apiKey }: Person): Promise<void> {
  const pipeline = newName();
  await made(create.pipeline(platform, pipelineYaml(pipeline, `<+secrets.getValue("account.${secret}")>`)));
  program.hold();
  const path = `/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`;
  await made(platform.send("POST", path, { contentType: YAML, apiKey }));
}

const losses: Readonly<Record<string, Loss>> = {
  "the account": { lose: ({ leave }) => leave(), code: "pipeline.principal_inactive" },
  "the permission": { lose: ({ loseAccess }) => loseAccess(), code: "pipeline.principal_refused" },
  "the secret": { lose: (_, secret) => remove(secret), code: "secret.deleted" },
  "the usage scope": {
    lose: (_, secret) => platform.db.query("update secrets set inherits_scope = false where identifier = $1", [secret]),
    code: "secret.use_refused",
  },
};

test("a step gets no secret whose starter, permission or scope ends while it is opened, and the trail says so", async () => {
  for (const [lost, { lose, code }] of Object.entries(losses)) {
    const [person, secret] = [await newPerson(), await newSecret()];
    await start(secret, person);
    assert.equal((await program.next()).operation, "unwrap", lost);
    assert.deepEqual(await deliveries(secret), [], "nothing was delivered yet");
    await lose(person, secret);
    program.release();
    await delegate.next("drop");
    assert.deepEqual(sent(), [], lost);
    assert.deepEqual(await deliveries(secret), [{ outcome: "refused", code }], lost);
  }
});

test("a step whose principals lose nothing gets the secret, and the trail has it before", async () => {
  const secret = await newSecret();
  await start(secret, await newPerson());
  await program.next();
  platform.clock.advance(30_000);
  program.release();
  const { data } = await delegate.next("secret");
  assert.equal(Buffer.from(data, "base64").toString(), `value of ${secret}`);
  assert.deepEqual(await deliveries(secret), [{ outcome: "success", code: null }]);
  await delegate.next("run");
});

test("a test of a connection gets no secret whose tester has lost it while it is opened", async () => {
  const { "the account": account, "the permission": permission } = losses;
  for (const [lost, loss, code] of [
    ["nothing", undefined, null],
    ["the account", account, "connector.account_inactive"],
    ["the permission", permission, "connector.secret_refused"],
  ] as const) {
    const [person, secret, connector] = [await newPerson(), await newSecret(), newName()];
    const yaml = connectorYaml(connector).replace(
      "    auth:\n      type: Anonymous",
      `    delegateSelectors: [x]\n    auth:\n      type: UsernamePassword\n      spec: {username: a, passwordRef: account.${secret}}`,
    );
    await made(platform.send("POST", "/ng/api/connectors", { contentType: YAML, body: yaml }));
    program.hold();
    const asked = platform.send("POST", `/ng/api/connectors/testConnection/${connector}`, { apiKey: person.apiKey });
    await program.next();
    await loss?.lose(person, secret);
    program.release();
    if (loss) {
      const sentTo = delegate.next("run").then(() => assert.fail(`${lost}: the secret was sent`));
      sentTo.catch(() => undefined);
      assert.equal((await Promise.race([asked, sentTo])).body.data.status, "FAILURE", lost);
      assert.deepEqual(
        sent().filter((kind) => kind === "run"),
        [],
        lost,
      );
      assert.deepEqual(await deliveries(secret), [{ outcome: "refused", code }], lost);
      continue;
    }
    const run = await delegate.next("run");
    assert.deepEqual(
      connectionOf(run).secrets.map(({ value }) => value),
      [`value of ${secret}`],
    );
    delegate.send({
      ...{ kind: "finished", task: run.task, epoch: run.epoch, offset: 0, data: "", startedAt: 1, endedAt: 2 },
      outcome: { kind: "tested", fault: null },
    });
    assert.equal((await asked).body.data.status, "SUCCESS");
  }
});
