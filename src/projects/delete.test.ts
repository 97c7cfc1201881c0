/** A project goes with all that lies in it, in every table, and not while something of it runs. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  clusterYaml,
  connectorYaml,
  create,
  eventually,
  inputSetYaml,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../test/support/contract.ts";
import { requestDuringChange } from "../../test/support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => void (platform = await startTestPlatform()));
after(() => platform?.stop());

const DELETE = "mutation ($input: DeleteApplicationInput!) { deleteApplication(input: $input) { clientMutationId } }";
/** Asks again where it met a change of the same moment, as Retry-After says: a delivery may be starting its run. */
async function remove(): Promise<Answer> {
  for (;;) {
    const answer = await platform.send("DELETE", "/ng/api/projects/shop?orgIdentifier=default");
    if (answer.status !== 503 || answer.headers.get("retry-after") === null) return answer;
  }
}

/** The number of rows in every table but the trail, the counts of requests, and what a database keeps of itself. */
async function rows(): Promise<ReadonlyMap<string, number>> {
  const tables = await platform.db.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
        and relname not like 'audit\\_%' and relname not in ('request_counts', 'schema_migrations') order by 1`,
  );
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await platform.db.query<{ n: number }>(`select count(*) as n from ${name}`);
    counts.set(name, row?.n ?? 0);
  }
  return counts;
}

/** Tables that say themselves which project a row belongs to. */
const scopedTables = async (): Promise<string[]> =>
  (
    await platform.db.query<{ name: string }>(
      `select distinct table_name as name from information_schema.columns
        where table_schema = 'public' and column_name in ('project_id', 'project_identifier') and table_name <> 'audit_entries'`,
    )
  ).map(({ name }) => name);

async function seedAccount(): Promise<void> {
  const { db } = platform;
  await made(create.project(platform, projectYaml()));
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, clusterYaml("cluster", inShop)));
  for (const [path, body] of [
    [
      "environmentsV2",
      "{ name: Staging, identifier: staging, orgIdentifier: default, projectIdentifier: shop, type: PreProduction }",
    ],
    ["servicesV2", "{ name: Web, identifier: web, orgIdentifier: default, projectIdentifier: shop }"],
  ])
    await made(platform.send("POST", `/ng/api/${path}`, { contentType: YAML, body: String(body) }));
  await made(create.pipeline(platform, pipelineYaml()));
  await made(create.inputSet(platform, "deploy", inputSetYaml("deploy", "nightly")));
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml()));
  const { webhookUrl: former } = await made(create.trigger(platform, "deploy", triggerYaml("deploy", "former")));
  await made(create.run(platform, "deploy"));
  for (const url of [webhookUrl, former])
    await platform.send("POST", new URL(url).pathname, { body: "{}", contentType: "application/json" });
  const path = `/pipeline/api/triggers/former?${SCOPE}&targetIdentifier=deploy`;
  await made(platform.send("DELETE", path));
  await db.query(
    `insert into secrets (account_id, id, org_identifier, project_identifier, identifier, name, description, tags, type,
                          manager_id, inherits_scope, scoped_to_account, version, created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 's', 's', '', '{}', 'ENCRYPTED_TEXT', account_id, false, false, 1, 1, 1
       from projects where identifier = 'shop'`,
  );
  for (const text of [
    `insert into service_accounts (account_id, id, org_identifier, project_identifier, identifier, name, email, description, tags,
                                   created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 's', 's', 's', '', '{}', 1, 1`,
    `insert into roles (account_id, id, org_identifier, project_identifier, identifier, name, description, tags, permissions,
                        scope_levels, created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 'r', 'r', '', '{}', '{}', '{project}', 1, 1`,
    `insert into resource_groups (account_id, id, org_identifier, project_identifier, identifier, name, description, color,
                                  tags, scope_levels, included_scopes, every_resource, resources, created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 'g', 'g', '', '', '{}', '{project}',
            '[{"org":"default","project":"shop","children":false}]', true, '[]', 1, 1`,
    `insert into user_groups (account_id, id, org_identifier, project_identifier, identifier, name, description, tags,
                              externally_managed, version, created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 'u', 'u', '', '{}', false, 1, 1, 1`,
    `insert into role_assignments (account_id, id, org_identifier, project_identifier, identifier, principal_type, principal_id,
                                   principal_identifier, principal_level, role_identifier, role_level, role_id,
                                   resource_group_identifier, resource_group_id, disabled, created_at, updated_at)
     select account_id, gen_random_uuid(), 'default', 'shop', 'a', 'USER_GROUP', (select id from user_groups limit 1), 'u', 'project',
            'r', 'project', (select id from roles limit 1), 'g', (select id from resource_groups limit 1), false, 1, 1`,
  ])
    await db.query(`${text} from projects where identifier = 'shop'`);
  await db.query(
    `insert into settings (account_id, org_identifier, project_identifier, identifier, value, allow_overrides, updated_at)
     select account_id, 'default', 'shop', 's', 'v', false, 1 from projects where identifier = 'shop'`,
  );
  await db.query(
    `insert into connector_uses (account_id, user_type, user_id, user_identifier, user_org_identifier, user_project_identifier,
                                 identifier, org_identifier, project_identifier)
     select account_id, 'pipeline', id, 'deploy', 'default', 'shop', 'cluster', 'default', 'shop' from pipelines
     on conflict do nothing`,
  );
  await db.query(
    `insert into secret_uses (account_id, user_type, user_id, user_identifier, user_org_identifier, user_project_identifier,
                              identifier, org_identifier, project_identifier)
     select account_id, 'CONNECTOR', id, 'registry', 'default', 'shop', 'password', 'default', 'shop' from pipelines`,
  );
  await db.query(
    // It is not due before the test ends.
    `insert into outgoing_mails (account_id, id, execution_id, node_id, org_identifier, project_identifier, to_addresses,
                                 cc_addresses, to_groups, cc_groups, subject, body, fire_and_forget, created_at, deadline_at,
                                 next_try_at)
     select account_id, gen_random_uuid(), id, id, 'default', 'shop', '{a@example.com}', '{}', '{}', '{}', 'm', '', false, 1,
            9e15, 9e15 from projects where identifier = 'shop'`,
  );
  await db.query(
    `insert into log_streams (account_id, execution_id, stream_id, bytes) select account_id, id, id, 1 from executions`,
  );
  await db.query(
    `insert into log_chunks (account_id, execution_id, position, node_id, node_position, data)
     select account_id, id, 0, id, 0, 'x' from executions`,
  );
}

async function abortAll(): Promise<void> {
  // A delivery that is taken up later would start another one.
  await eventually(async () => {
    // A delivery that another transaction had locked is processed again later.
    platform.clock.advance(3_000);
    await platform.platform.sweep();
    const waiting = await platform.db.query("select 1 from webhook_deliveries where processed_at is null");
    return waiting.length === 0 ? true : undefined;
  });
  const ids = await platform.graphql(`{ executions(limit: 100) { nodes { id status } } }`);
  for (const { id } of ids.body.data.executions.nodes)
    await platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?${SCOPE}&interruptType=AbortAll`);
}

/** The entry of the deletion counts all that went along, and names it. */
async function assertTold(runs: number): Promise<void> {
  const [row] = await platform.db.query<{ difference: { changes: { field: string; before: unknown }[] } }>(
    "select difference from audit_entries where operation = 'project.delete' order by id desc limit 1",
  );
  const told = row?.difference.changes.find(({ field }) => field === "goneToo")?.before as {
    readonly type: string;
    readonly count: number;
    readonly identifiers: readonly string[];
  }[];
  const once = (type: string, ...identifiers: string[]) => ({ type, count: identifiers.length, identifiers });
  assert.deepEqual(told, [
    once("TRIGGER", "hook"),
    once("OUTGOING_MAIL", "m"),
    { type: "PIPELINE_EXECUTION", count: runs, identifiers: [] },
    once("PIPELINE", "deploy"),
    once("INPUT_SET", "nightly"),
    once("ENVIRONMENT", "staging"),
    once("SERVICE", "web"),
    once("CONNECTOR", "cluster"),
    once("SECRET", "s"),
    once("SETTING", "s"),
    once("SERVICE_ACCOUNT", "s"),
    once("ROLE_ASSIGNMENT", "USER_GROUP u: r over g in default/shop"),
    once("ROLE", "r"),
    once("RESOURCE_GROUP", "g"),
    once("USER_GROUP", "u"),
  ]);
}

test("deleting a project deletes all of its rows, and no others", async () => {
  await made(create.project(platform, projectYaml("neighbour")));
  await made(
    create.connector(platform, connectorYaml("registry", "  orgIdentifier: default\n  projectIdentifier: neighbour\n")),
  );
  const earlier = await rows();
  await seedAccount();
  const furnished = await rows();
  for (const table of await scopedTables())
    assert.ok((furnished.get(table) ?? 0) > (earlier.get(table) ?? 0), `the test keeps nothing in ${table}`);

  const busy = await remove();
  assert.deepEqual([busy.status, busy.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.match(busy.body.message, /^Project \[shop\] is used by the running execution \S{22} and cannot be deleted\.$/);
  assert.equal((await rows()).get("connectors"), furnished.get("connectors"), "nothing is half deleted");

  await abortAll();
  const runs = ((await rows()).get("executions") ?? 0) - (earlier.get("executions") ?? 0);
  assert.equal(await made(remove()), true);
  assert.deepEqual(await rows(), earlier);
  const [entry] = await platform.db.query("select operation, resource_id from audit_entries order by id desc limit 1");
  assert.deepEqual(entry, { operation: "project.delete", resource_id: "shop" });
  await assertTold(runs);
  assert.equal((await remove()).status, 404);
});

test("deleteApplication: the same through GraphQL", async () => {
  const earlier = await rows();
  await seedAccount();
  const { body } = await platform.graphql(`{ applications { nodes { id name } } }`);
  const shops: { id: string }[] = body.data.applications.nodes;
  const [row] = await platform.db.query<{ id: string }>("select id from projects where identifier = 'shop'");
  const shop = Buffer.from(String(row?.id).replaceAll("-", ""), "hex").toString("base64url");
  assert.ok(shops.some(({ id }) => id === shop));
  const input = { applicationId: shop, clientMutationId: "bye" };
  const busy = await platform.graphql(DELETE, { input });
  assert.equal(busy.body.errors[0].extensions.code, "ENTITY_REFERENCE_EXCEPTION");
  await abortAll();
  const gone = await platform.graphql(DELETE, { input });
  assert.deepEqual(gone.body, { data: { deleteApplication: { clientMutationId: "bye" } } });
  assert.deepEqual(await rows(), earlier);
  const again = await platform.graphql(DELETE, { input });
  assert.match(again.body.errors[0].message, /: User not authorized\.$/);
});

test("a task that its delegate still holds keeps the project", async () => {
  await seedAccount();
  await abortAll();
  await platform.db.query("update tasks set status = 'ready', delegate_id = null");
  const busy = await remove();
  assert.deepEqual([busy.status, busy.body.code], [402, "ENTITY_REFERENCE_EXCEPTION"]);
  assert.match(busy.body.message, /a task that its delegate has not ended yet/);
  await platform.db.query("update tasks set status = 'finished'");
  assert.equal(await made(remove()), true);
});

test("deleting a project waits for concurrent inserts into it, and deletes them, too", async () => {
  await made(create.project(platform, projectYaml()));
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, connectorYaml("early", inShop)));
  const answer = await requestDuringChange(
    platform.db,
    (tx) =>
      tx.query(
        `insert into connectors
         select r.* from connectors c,
                jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'identifier', 'late')) r
          where c.identifier = 'early'`,
      ),
    // Once: who has to ask again has met the row, and no lock.
    () => platform.send("DELETE", "/ng/api/projects/shop?orgIdentifier=default"),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await platform.db.query("select 1 from connectors where project_identifier = 'shop'"), []);
});

test("a concurrent insert into a deleted project is deleted or rejected; no row stays", async () => {
  for (let round = 0; round < 5; round += 1) {
    await made(create.project(platform, projectYaml()));
    const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
    const [, , removed] = await Promise.all([
      create.connector(platform, connectorYaml(`c${round}`, inShop)),
      create.pipeline(platform, pipelineYaml(`p${round}`)),
      remove(),
    ]);
    assert.equal(removed.status, 200, removed.text);
    const left = await platform.db.query("select 1 from connectors where project_identifier = 'shop'");
    assert.deepEqual(left, []);
  }
});
