/**
 * Every list with `sortOrders`, or `sort` in its grammar, returns the requested order, by each field, in both
 * directions and across pages. Lists with pages and one fixed order are listed below.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml, triggerYaml } from "../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { sendSample, createExamples, samples, type Sample } from "../scenarios/attacks/requests.ts";
import type { World } from "./world.ts";

let platform: TestPlatform;
let world: World;

before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
  for (const nth of ["b", "a", "c"]) {
    platform.clock.advance(1_000);
    await makeOneOfEach(nth);
  }
});
after(() => platform?.stop());

const post = async (path: string, body: object): Promise<Answer> => {
  const answer = await platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
  assert.ok(answer.status === 200 || answer.status === 201, `${path}: ${answer.text}`);
  return answer;
};

/** Creates another entry of every list. Later entries do not have later names. */
async function makeOneOfEach(nth: string): Promise<void> {
  const named = { identifier: `sorted_${nth}`, name: `Sorted ${nth}` };
  const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: "deployer" };
  const inShop = "?orgIdentifier=default&projectIdentifier=shop";
  await post("/ng/api/organizations", { organization: named });
  await made(create.project(platform, projectYaml(named.identifier).replace("The shop", named.name)));
  await post("/ng/api/connectors", {
    connector: {
      ...named,
      type: "ContainerRegistry",
      spec: { registryUrl: "https://registry.example.com/v2/", providerType: "Other", auth: { type: "Anonymous" } },
    },
  });
  await post("/ng/api/v2/secrets", {
    secret: {
      ...named,
      type: "SecretText",
      spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" },
    },
  });
  await post("/ng/api/serviceaccount", named);
  await post("/ng/api/apikey", { ...owner, ...named });
  await post("/ng/api/token", { ...owner, apiKeyIdentifier: "pipelines", ...named });
  await post("/authz/api/roles", { ...named, permissions: ["core_project_view"] });
  await post("/resourcegroup/api/v2/resourcegroup", {
    resourceGroup: { ...named, includedScopes: [], resourceFilter: { includeAllResources: true } },
  });
  await post("/ng/api/user/users", { emails: [`sorted-${nth}@example.com`] });
  const { content } = (await post(`/ng/api/user/batch?searchTerm=sorted-${nth}@`, {})).body.data;
  await post("/authz/api/roleassignments", {
    resourceGroupIdentifier: "_all_account_level_resources",
    roleIdentifier: "_account_viewer",
    principal: { identifier: content[0].uuid, type: "USER" },
  });
  await post("/ng/api/user-groups", named);
  const trigger = triggerYaml("deploy", named.identifier).replace("Hook", named.name);
  await made(create.trigger(platform, "deploy", trigger));
  await platform.send("PUT", `/ng/api/user-groups/developers/member/${content[0].uuid}`);
  await post("/ng/api/secret-managers", { secretManager: { ...named, type: "Platform" } });
  for (const [path, more] of [
    ["/ng/api/environmentsV2", { type: "PreProduction" }],
    ["/ng/api/servicesV2", {}],
  ] as const)
    for (const query of ["", inShop]) await post(path + query, { ...named, ...more });
}

/** Returns the parameter for the order of a list, and its fields. */
function orderOf({ operation }: Sample): { readonly name: string; readonly fields: readonly string[] } | undefined {
  for (const { name, schema } of operation.parameters) {
    const pattern = /\^\(([\w|]+)\),\(ASC\|DESC\)\$/.exec(JSON.stringify(schema));
    if (pattern) return { name, fields: (pattern[1] ?? "").split("|") };
  }
  return undefined;
}

/** Returns the nearest value with this name in an item, at any depth of its envelope. */
function valueIn(item: unknown, field: string): unknown {
  let level: readonly unknown[] = [item];
  while (level.length > 0) {
    for (const one of level) {
      const value = (one as Readonly<Record<string, unknown>>)[field];
      if (value !== undefined) return value;
    }
    level = level.flatMap((one) => Object.values(one as object).filter((part) => typeof part === "object" && part));
  }
  return undefined;
}

/** Built-in items come first in some lists. */
function isOwn(item: unknown): boolean {
  const identifier = valueIn(item, "identifier");
  return typeof identifier !== "string" || !identifier.startsWith("_");
}

async function listed(sample: Sample, more: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const { operation } = sample;
  const query = { ...sample.query, ...more };
  // Without the search term of the example, so that the list has all items.
  const { filterType } = (sample.body ?? {}) as { readonly filterType?: string };
  const answer = await sendSample(platform, { ...sample, query, body: operation.bodies[JSON_TYPE] && { filterType } });
  assert.equal(answer.status, 200, `${operation.operationId}: ${answer.text}`);
  const { data } = answer.body;
  return Array.isArray(data) ? data : data.content;
}

const sorted = (): readonly Sample[] => samples(world).filter((sample) => orderOf(sample));

/** Compares the list with one order. Returns undefined if no response shows the field, as with dates of users. */
async function inOrder(sample: Sample, field: string, way: "ASC" | "DESC"): Promise<string | undefined> {
  const what = `${sample.operation.operationId} by ${field} ${way}`;
  const items = await listed(sample, { [orderOf(sample)?.name ?? ""]: `${field},${way}` });
  const values = items.filter(isOwn).map((item) => valueIn(item, field));
  if (values.every((value) => value === undefined)) return undefined;
  assert.ok(new Set(values).size >= 2, `${what}: too little to sort: ${JSON.stringify(values)}`);
  const right = values.toSorted((a, b) => (way === "ASC" ? 1 : -1) * ((a as string) < (b as string) ? -1 : 1));
  assert.deepEqual(values, right, what);
  return what;
}

/** Returns the items of the test in the list's order. Creation times are known even if no response shows them. */
const oursIn = (items: readonly unknown[]): readonly string[] => [
  ...new Set(items.flatMap((item) => /sorted[-_]([abc])/.exec(JSON.stringify(item))?.[1] ?? [])),
];

test("each such list is in the requested order, by each of its fields, in both directions", async () => {
  const checked = new Set<string | undefined>();
  for (const sample of sorted()) {
    const { name, fields } = orderOf(sample) ?? { name: "", fields: [] };
    for (const field of fields)
      for (const way of ["ASC", "DESC"] as const) checked.add(await inOrder(sample, field, way));
    const newest = fields.includes("createdAt") ? oursIn(await listed(sample, { [name]: "createdAt,DESC" })) : [];
    if (newest.length > 0) assert.deepEqual(newest, ["c", "a", "b"], sample.operation.operationId);
  }
  assert.ok(checked.size >= 100, `${checked.size}: ${[...checked].join("\n")}`);
});

test("pages follow the requested order, and unknown fields are refused by name", async () => {
  for (const sample of sorted()) {
    const { operationId, parameters } = sample.operation;
    const { name, fields } = orderOf(sample) ?? { name: "", fields: [] };
    const [page, size] = parameters.some((one) => one.name === "pageIndex")
      ? ["pageIndex", "pageSize"]
      : ["page", "size"];
    const order = { [name]: `${fields[0]},DESC` };
    const all = await listed(sample, order);
    const pages = [
      await listed(sample, { ...order, [size]: "2" }),
      await listed(sample, { ...order, [size]: "2", [page]: "1" }),
    ];
    assert.deepEqual(pages.flat(), all.slice(0, 4), operationId);
    for (const wrong of ["color,ASC", `${fields[0]},UP`, `${fields[0]}`]) {
      const refused = await sendSample(platform, { ...sample, query: { ...sample.query, [name]: wrong } });
      assert.equal(refused.status, 400, `${operationId}: ${refused.text}`);
      assert.ok(refused.body.message.includes(`${name} cannot be [${wrong}]: it takes one of`), refused.text);
    }
  }
});

/**
 * Lists with one order: principals by type and name; tasks of a delegate by their start; documents order sets;
 * invitations, versions and executions are newest first; entries that stop with an account are ordered by project; the
 * v1 family has its own parameters.
 */
const ONE_ORDER = [
  ...[
    "access.list-principals",
    "connector.used-by",
    "delegate.list-tasks",
    "environment.used-by",
    "execution.list",
    "input-set.list",
    "invitation.list",
    "ownership.list",
    "pipeline-v1.list",
    "pipeline-v1.list-older",
  ],
  ...["pipeline.list", "pipeline.list-versions", "secret.used-by", "service.used-by"],
];

test("a list with pages documents its orders, or has one fixed order", () => {
  const paged = samples(world).filter(({ operation }) =>
    operation.parameters.some(({ name }) => name === "pageIndex" || name === "page"),
  );
  const silent = paged.filter((sample) => !orderOf(sample)).map(({ operation }) => operation.operationId);
  assert.deepEqual(silent.toSorted(), ONE_ORDER, "Let the list take sortOrders, or say why it has one order.");
});

test("executions are newest first, and another order is refused", async () => {
  const list = (sort: string): Promise<Answer> =>
    platform.send(
      "POST",
      `/pipeline/api/pipelines/execution/summary?orgIdentifier=default&projectIdentifier=shop&sort=${sort}`,
    );
  assert.equal((await list("startTs,DESC")).status, 200);
  const refused = await list("name,ASC");
  assert.deepEqual([refused.status, refused.body.code], [400, "INVALID_REQUEST"]);
  assert.match(refused.body.message, /sort takes startTs,DESC alone/);
});
