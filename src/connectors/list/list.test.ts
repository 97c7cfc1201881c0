import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connectorYaml, create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
const PATH = "/ng/api/connectors";
const SHOP = "orgIdentifier=default&projectIdentifier=shop";
const IN_PROJECT = "  orgIdentifier: default\n  projectIdentifier: shop\n";

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  const add = (identifier: string, name: string, more = IN_PROJECT): Promise<unknown> =>
    made(create.connector(platform, connectorYaml(identifier, more).replace("name: Registry", `name: ${name}`)));
  await add("c_1", "Charlie");
  await add("a_1", "Alpha", `${IN_PROJECT}  description: The 100% one\n  tags: { team: a, tier: gold }\n`);
  await add("b_1", "Bravo", `${IN_PROJECT}  tags: { team: b }\n`);
  await add("b_2", "Bravo");
  await add("in_org", "Outer", "  orgIdentifier: default\n");
  await add("in_account", "Outermost", "");
});
after(() => platform?.stop());

const identifiers = ({ body, text }: Answer): string[] => {
  assert.ok(body.data, text);
  return body.data.content.map((one: { connector: { identifier: string } }) => one.connector.identifier);
};
const list = async (query: string): Promise<string[]> => identifiers(await platform.send("GET", `${PATH}?${query}`));
const filtered = (filter: unknown, query = SHOP): Promise<Answer> =>
  platform.send("POST", `${PATH}/listV2?${query}`, { body: JSON.stringify(filter), contentType: JSON_TYPE });
const found = async (filter: object, query = SHOP): Promise<string[]> =>
  identifiers(await filtered({ filterType: "Connector", ...filter }, query));
const ALL = ["a_1", "b_1", "b_2", "c_1"];

test("a list has the connectors of its scope, by name", async () => {
  assert.deepEqual(await list(SHOP), ALL);
  assert.deepEqual(await list("orgIdentifier=default"), ["in_org"]);
  assert.deepEqual(await list(""), ["in_account"]);
  assert.equal((await platform.send("GET", `${PATH}?orgIdentifier=none`)).status, 404);
  assert.equal((await platform.send("GET", `${PATH}?projectIdentifier=shop`)).status, 400);
  const { accountId, apiKey } = await platform.addAccount();
  const other = await platform.send("GET", PATH, { account: accountId, apiKey });
  assert.deepEqual(other.body.data.content, []);
});

test("both lists have the requested order; an unknown order is rejected by name", async () => {
  const NAMES = ["c_1", "b_1", "b_2", "a_1"];
  assert.deepEqual(await list(`${SHOP}&sortOrders=name,DESC`), NAMES);
  assert.deepEqual(await found({}, `${SHOP}&sortOrders=name,DESC`), NAMES);
  assert.deepEqual(await list(`${SHOP}&sortOrders=name,DESC&sortOrders=identifier,DESC`), ["c_1", "b_2", "b_1", "a_1"]);
  assert.deepEqual(await list(`${SHOP}&sortOrders=identifier,DESC&pageSize=1&pageIndex=1`), ["b_2"]);
  for (const send of [
    platform.send("GET", `${PATH}?sortOrders=type,ASC`),
    filtered({ filterType: "Connector" }, "sortOrders=type,ASC"),
  ]) {
    const { status, body } = await send;
    assert.equal(status, 400);
    assert.match(body.message, /sortOrders cannot be \[type,ASC\]/);
  }
});

test("pages: each connector once, the total on each", async () => {
  const pages = [0, 1, 2].map((nth) => platform.send("GET", `${PATH}?${SHOP}&pageSize=3&pageIndex=${nth}`));
  const answers = await Promise.all(pages);
  assert.deepEqual(answers.map(identifiers), [["a_1", "b_1", "b_2"], ["c_1"], []]);
  const { content: _, ...second } = answers[1]?.body.data ?? {};
  assert.deepEqual(second, {
    totalPages: 2,
    totalItems: 4,
    pageItemCount: 1,
    pageSize: 3,
    pageIndex: 1,
    empty: false,
    pageToken: null,
  });
  for (const wrong of ["pageSize=1001", "pageSize=-1", "pageIndex=x", "pageSize=1&pageSize=2"])
    assert.equal((await platform.send("GET", `${PATH}?${SHOP}&${wrong}`)).status, 400, wrong);
});

test("a search finds literal parts of name and identifier, case-insensitively", async () => {
  assert.deepEqual(await list(`${SHOP}&searchTerm=RAV`), ["b_1", "b_2"]);
  assert.deepEqual(await list(`${SHOP}&searchTerm=B_2`), ["b_2"]);
  for (const nothing of ["%25", "b%252", "%5C"])
    assert.deepEqual(await list(`${SHOP}&searchTerm=${nothing}`), [], nothing);
  assert.deepEqual(await list(`${SHOP}&searchTerm=_`), ALL, "each has that character itself");
});

test("type and category filter the list; an unknown type matches nothing", async () => {
  assert.deepEqual(await list(`${SHOP}&type=ContainerRegistry&category=ARTIFACTORY`), ALL);
  assert.deepEqual(await list(`${SHOP}&type=Git`), []);
  assert.deepEqual(await list(`${SHOP}&category=CLOUD_PROVIDER`), []);
  assert.equal((await platform.send("GET", `${PATH}?${SHOP}&category=NONE`)).status, 400);
  assert.match(
    (await platform.send("GET", `${PATH}?${SHOP}&source_category=x`)).body.message,
    /source_category is not supported/,
  );
});

test("listV2: each condition of the filter applies, and all of them together", async () => {
  assert.deepEqual(await found({}), ALL);
  assert.deepEqual(identifiers(await platform.send("POST", `${PATH}/listV2?${SHOP}`)), ALL, "no body is no filter");
  assert.deepEqual(await found({ connectorNames: ["Bravo", "Alpha"] }), ["a_1", "b_1", "b_2"]);
  assert.deepEqual(await found({ connectorNames: [], connectorIdentifiers: ["b_2", "x"] }), ["b_2"]);
  assert.deepEqual(await found({ description: "100% ONE" }), ["a_1"]);
  assert.deepEqual(await found({ types: ["Git"] }), []);
  assert.deepEqual(await found({ categories: ["ARTIFACTORY", "TICKETING"] }), ALL);
  assert.deepEqual(await found({ types: ["ContainerRegistry"], categories: ["TICKETING"] }), []);
  assert.deepEqual(await found({ connectivityStatuses: ["UNKNOWN"] }), ALL, "none has been tested");
  assert.deepEqual(await found({ connectivityStatuses: ["SUCCESS", "FAILURE"] }), []);
  assert.deepEqual(await found({ inheritingCredentialsFromDelegate: true }), []);
  assert.deepEqual(await found({ inheritingCredentialsFromDelegate: false }), ALL);
  assert.deepEqual(await found({ tags: { team: "a" } }), ["a_1"]);
  assert.deepEqual(await found({ tags: { team: "a", tier: "silver" } }), []);
  assert.deepEqual(await found({ connectorNames: ["Bravo"], tags: { team: "b" } }, `${SHOP}&searchTerm=1`), ["b_1"]);
  assert.deepEqual(await found({}, `${SHOP}&includeAllConnectorsAvailableAtScope=true`), [
    ...ALL,
    "in_org",
    "in_account",
  ]);
  for (const wrong of [
    { filterType: "Secret" },
    { filterType: "Connector", orgIdentifier: "other" },
    [],
    "x",
    { filterType: "Connector", types: "Git" },
  ])
    assert.equal((await filtered(wrong)).status, 400, JSON.stringify(wrong));
  assert.match(
    (await filtered({ filterType: "Connector" }, `${SHOP}&filterIdentifier=f`)).body.message,
    /filterIdentifier/,
  );
});

test("the catalogue has the types by category; an identifier is free in a scope or not", async () => {
  const { body } = await platform.send("GET", `${PATH}/catalogue`);
  assert.deepEqual(body.data.catalogue, [
    { category: "CLOUD_PROVIDER", connectors: ["K8sCluster"] },
    { category: "ARTIFACTORY", connectors: ["ContainerRegistry"] },
  ]);
  const free = async (query: string): Promise<unknown> =>
    (await platform.send("GET", `${PATH}/validateUniqueIdentifier?${query}`)).body.data;
  assert.deepEqual(
    [await free(`${SHOP}&identifier=a_1`), await free("identifier=a_1"), await free("identifier=in_account")],
    [false, true, false],
  );
  assert.equal((await platform.send("GET", `${PATH}/validateUniqueIdentifier`)).status, 400);
  const named = await create.connector(platform, connectorYaml("catalogue"));
  assert.match(named.body.message, /is a path of the interface/);
});
