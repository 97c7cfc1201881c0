/**
 * The number of statements of a query does not grow with the nodes of its lists: each field of each type that a list
 * reaches is selected below it, over 2 and over 10 nodes.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from "graphql";
import {
  create,
  createTargets,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { pretendDelegate } from "../../../../test/support/pretend-delegate.ts";
import { adminOf } from "../../../../test/support/secrets.ts";
import { createDocuments, type Documents } from "../request/documents.ts";
import { MAX_DEPTH } from "./bounds.ts";

const [FEW, MANY] = [2, 10];
/** Types that exist for the documents of clients and have no objects. */
const WITHOUT_OBJECTS = [
  ...["AccountPermissions", "ApiKeyChangeSet", "AppFilter", "AppPermission", "ApprovalStageExecution", "Artifact"],
  ...["ArtifactSource", "DeploymentOutcome", "DeploymentPermissions", "EnvironmentPermissions", "GitChangeSet"],
  ...["GitConnector", "GitSyncConfig", "LDAPSettings", "NotificationSettings", "PipelinePermissions"],
  ...["ProvisionerPermissions", "SAMLSettings", "ServicePermissions", "SlackNotificationSetting"],
  ...["UserGroupPermissions", "Workflow", "WorkflowExecution", "WorkflowPermissions"],
];

let platform: TestPlatform;
let schema: GraphQLSchema;
let documents: Documents;
let statements: string[] = [];

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => (statements.push(text), db.query(text, values)),
      tuples: (text, values) => (statements.push(text), db.tuples(text, values)),
      transaction: (work) => (statements.push("begin"), db.transaction(work)),
    }),
  });
  ({ schema } = platform.platform);
  documents = createDocuments(schema);
  await fill(platform);
});
after(() => platform?.stop());

/** Ten rows of each list. Each two rows that follow each other have all kinds of objects. */
async function fill(on: TestPlatform): Promise<void> {
  const tags = "  tags: { team: web, tier: front }\n";
  await made(create.project(on, projectYaml("shop", tags)));
  await createTargets(on);
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  const keys: string[] = [];
  for (let at = 0; at < MANY; at += 1) keys.push(await on.addUser("_account_admin"));
  const { body } = await on.graphql("{ users(limit: 20) { nodes { id } } }");
  const userIds: string[] = body.data.users.nodes.map(({ id }: { id: string }) => id);
  for (let at = 0; at < MANY; at += 1) {
    const group = `mutation ($input: CreateUserGroupInput!) { createUserGroup(input: $input) { userGroup { id } } }`;
    const created = await on.graphql(group, { input: { name: `group ${at}`, userIds } });
    assert.equal(created.body.errors, undefined, created.text);
  }
  for (const [at, apiKey] of keys.entries()) {
    const name = `p${at}`;
    const send = (method: string, path: string, body?: string) =>
      made(on.send(method, path, { apiKey, contentType: YAML, ...(body === undefined ? {} : { body }) }));
    await send("POST", "/ng/api/projects?orgIdentifier=default", projectYaml(`shop${at}`).replace("The shop", name));
    const variables = (indent: string): string => `${indent}variables: [{ name: v, type: String, value: x }]\n`;
    const pipeline = pipelineYaml(name, "none", tags + variables("  "));
    await send(
      "POST",
      `/pipeline/api/pipelines?${SCOPE}`,
      pipeline.replace(/(?<= Deployment\n)/, variables("        ")),
    );
    const [service, environment] = [`service:\n`, `environment:\n  type: Production\n`];
    const entity = `  name: e${at}\n  identifier: e${at}\n${inShop}${tags}`;
    await send("POST", "/ng/api/servicesV2", service + entity);
    await send("POST", "/ng/api/environmentsV2", environment + entity);
    const hook = triggerYaml(name, `hook${at}`);
    const { webhookUrl } = await send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${name}`, hook);
    await made(on.send("POST", new URL(webhookUrl).pathname, { apiKey: null, body: "{}" }));
    await on.platform.sweep();
    const token = await on.delegateToken();
    const delegate = await pretendDelegate({ url: on.url, token, name: `d${at}`, unavailable: "it is a test" });
    await delegate.next("welcome");
    await delegate.close();
    await send("POST", `/pipeline/api/pipeline/execute/${name}?${SCOPE}`);
  }
  await on.db.query(
    `insert into secret_managers (account_id, id, identifier, name, kind, version, created_at, updated_at)
     select account_id, gen_random_uuid(), 'manager' || at, 'A' || at, kind, 1, created_at, updated_at
       from secret_managers, generate_series(1, 10) as at`,
  );
  await on.db.query(
    `insert into secret_manager_scopes (account_id, manager_id, nth, environments)
     select account_id, id, 0, 'PRODUCTION_ENVIRONMENTS' from secret_managers on conflict do nothing`,
  );
}

type Fields = readonly GraphQLField<unknown, unknown>[];
const fieldsOf = (type: GraphQLCompositeType): Fields =>
  isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];

/** The type of the nodes of a list type; undefined for other types. */
function nodeOf(type: unknown): GraphQLCompositeType | undefined {
  const nodes = isObjectType(type) ? type.getFields()["nodes"] : undefined;
  const node = nodes && getNamedType(nodes.type);
  return isCompositeType(node) ? node : undefined;
}

type Place = { readonly path: string; readonly type: GraphQLObjectType; readonly query: string };

/** Deeper lists would exceed the cost of a query. */
const LISTS_IN_LISTS = 2;

/** Each object type at each place below a list. No path has a type twice. */
function placesBelow(
  type: GraphQLCompositeType,
  path: string,
  wrap: (selection: string) => string,
  passed: readonly string[] = [],
): readonly Place[] {
  const query = wrap("id");
  if (passed.includes(type.name) || query.split("{").length > MAX_DEPTH) return [];
  if (query.split("nodes").length > LISTS_IN_LISTS + 1) return [];
  if (isAbstractType(type))
    return schema
      .getPossibleTypes(type)
      .flatMap((one) => placesBelow(one, path, (below) => wrap(`__typename ... on ${one.name} { ${below} }`), passed));
  const fields = fieldsOf(type);
  const here = { path: `${path} ${type.name}`, type, query: wrap(`__typename ${fields.map(twice).join(" ")}`) };
  const below = fields.flatMap((field) => {
    const inner = getNamedType(field.type);
    const node = nodeOf(inner);
    const next = node ?? inner;
    if (!isCompositeType(next)) return [];
    const wrapped = (selection: string): string =>
      wrap(node ? `${field.name}(limit: $n) { nodes { ${selection} } }` : `${field.name} { ${selection} }`);
    return placesBelow(next, `${path}.${field.name}`, wrapped, [...passed, type.name]);
  });
  return [here, ...below];
}

/** The field and an alias of it, with what runs a statement below it. */
function twice({ name, type, args }: GraphQLField<unknown, unknown>): string {
  assert.ok(
    args.every((one) => ["limit", "offset"].includes(one.name)),
    `the test has no value for ${name}`,
  );
  const inner = getNamedType(type);
  if (nodeOf(inner)) {
    const list = "(limit: $n, offset: 0) { nodes { __typename } pageInfo { limit offset total hasMore } }";
    return `${name}${list} a_${name}: ${name}${list}`;
  }
  const below = isCompositeType(inner) ? " { __typename }" : "";
  return `${name}${below} a_${name}: ${name}${below}`;
}

/** It goes on from a cursor instead of an offset, and its nodes are whole rows: none of their fields runs a statement. */
const CURSOR_LIST = "pendingApprovals";

const seen = new Set<string>();

async function run(query: string, n: number): Promise<readonly string[]> {
  const prepared = documents.prepare(query, undefined, { n });
  assert.ok("run" in prepared, JSON.stringify("errors" in prepared && prepared.errors));
  statements = [];
  const result = await prepared.run({ actor: adminOf(platform) }, { n });
  assert.equal(result.errors, undefined, `${query} ${JSON.stringify(result.errors)}`);
  JSON.stringify(result.data, (key, value) => (key === "__typename" && seen.add(value), value));
  const [list] = Object.values(result.data as Record<string, { nodes: unknown[] }>);
  if (!query.includes("workflows")) assert.equal(list?.nodes.length, n, query);
  return statements;
}

test("each field below each list takes as many statements for ten nodes as for two", async () => {
  const lists = fieldsOf(schema.getQueryType() as GraphQLObjectType).filter(
    ({ name, type }) => name !== CURSOR_LIST && nodeOf(getNamedType(type)),
  );
  const places = lists.flatMap(({ name, type }) =>
    placesBelow(
      nodeOf(getNamedType(type)) as GraphQLCompositeType,
      name,
      (selection) => `query ($n: Int) { ${name}(limit: $n) { nodes { ${selection} } pageInfo { total hasMore } } }`,
    ),
  );
  const grown: string[] = [];
  for (const { path, query } of places) {
    const few = await run(query, FEW);
    for (const use of ["interpreted", "compiled"]) {
      const many = await run(query, MANY);
      if (many.length > few.length)
        grown.push(`${path}, ${use}: ${few.length} statements for ${FEW} nodes, ${many.length} for ${MANY}`);
    }
  }
  assert.deepEqual(grown, []);
  const reached = new Set(places.map(({ type }) => type.name));
  assert.deepEqual(
    [...reached].filter((name) => !seen.has(name)).toSorted(),
    WITHOUT_OBJECTS,
    "the lists of the test have an object of each type",
  );
});
