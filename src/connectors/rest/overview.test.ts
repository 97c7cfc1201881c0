/** What pages about connectors ask for beside the connectors themselves. */
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
  await made(create.project(platform, projectYaml("bank")));
  for (const identifier of ["one", "two", "three"])
    await made(create.connector(platform, connectorYaml(identifier, IN_PROJECT)));
  await made(create.connector(platform, connectorYaml("one", "  orgIdentifier: default\n")));
  await made(create.connector(platform, connectorYaml("one")));
});
after(() => platform?.stop());

test("connectors are counted by type and status, those of one scope", async () => {
  const stats = (query: string) => made(platform.send("GET", `${PATH}/stats?${query}`));
  const untested = (count: number) => ({
    typeStats: [{ type: "ContainerRegistry", count }],
    statusStats: [{ status: "UNKNOWN", count }],
  });
  assert.deepEqual([await stats(SHOP), await stats("orgIdentifier=default"), await stats("")], [3, 1, 1].map(untested));
  await platform.db.query(
    `update connectors set status = '{"status": "FAILURE"}' where identifier = 'two' and project_identifier = 'shop'`,
  );
  assert.deepEqual((await stats(SHOP)).statusStats, [
    { status: "FAILURE", count: 1 },
    { status: "UNKNOWN", count: 2 },
  ]);
  await platform.db.query("update connectors set status = null");
  assert.equal((await platform.send("GET", `${PATH}/stats?orgIdentifier=none`)).status, 404);
  const { accountId, apiKey } = await platform.addAccount();
  const other = await platform.send("GET", `${PATH}/stats`, { account: accountId, apiKey });
  assert.deepEqual(other.body.data, { typeStats: [], statusStats: [] });
  const elsewhere = await platform.addUser("_project_viewer", {
    orgIdentifier: "default",
    projectIdentifier: "bank",
  });
  assert.equal((await platform.send("GET", `${PATH}/stats?${SHOP}`, { apiKey: elsewhere })).status, 403);
});

test("the values that fields of a type take, and no others are taken", async () => {
  const { fieldValues } = await made(platform.send("GET", `${PATH}/fieldValues?connectorType=ContainerRegistry`));
  assert.deepEqual(fieldValues, {
    providerType: ["PublicHosted", "Harbor", "Quay", "Other"],
    "auth.type": ["Anonymous", "UsernamePassword"],
  });
  for (const [nth, value] of [...fieldValues.providerType, "Nobody"].entries()) {
    const body = connectorYaml(`provider_${nth}`).replace("PublicHosted", value);
    const { status } = await create.connector(platform, body);
    assert.equal(status, value === "Nobody" ? 400 : 200, value);
  }
  for (const query of ["", "connectorType=Git", "connectorType=toString"]) {
    const refused = await platform.send("GET", `${PATH}/fieldValues?${query}`);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, /connectorType takes one of ContainerRegistry/);
  }
});

test("connectors by full name, in the order of the names, without missing ones", async () => {
  const us = platform.accountId;
  const asked = (names: unknown, apiKey = platform.apiKey): Promise<Answer> =>
    platform.send("POST", `${PATH}/listbyfqn`, { apiKey, contentType: JSON_TYPE, body: JSON.stringify(names) });
  const found = async (names: readonly string[], apiKey?: string): Promise<string[]> =>
    (await made(asked(names, apiKey))).map(
      ({ connector }: { connector: Record<string, string | null> }) =>
        `${connector["orgIdentifier"]}/${connector["projectIdentifier"]}/${connector["identifier"]}`,
    );
  const all = [`${us}/default/shop/two`, `${us}/one`, `${us}/default/shop/one`, `${us}/default/one`];
  const places = ["default/shop/two", "null/null/one", "default/shop/one", "default/null/one"];
  assert.deepEqual(await found(all), places);
  assert.deepEqual(await found([...all, `${us}/default/shop/two`, `${us}/none`, `${us}/default/none/two`]), places);
  assert.deepEqual(await found([]), []);
  const [first] = await made(asked([`${us}/one`]));
  assert.deepEqual(first, await made(platform.send("GET", `${PATH}/one`)), "in the shape of reading one");

  const inShop = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  assert.deepEqual(await found(all, inShop), ["default/shop/two", "default/shop/one"]);
  const other = await platform.addAccount();
  const theirs = await platform.send("POST", `${PATH}/listbyfqn`, {
    apiKey: other.apiKey,
    account: other.accountId,
    contentType: JSON_TYPE,
    body: JSON.stringify([...all, `${other.accountId}/one`]),
  });
  assert.deepEqual(theirs.body.data, []);

  for (const wrong of [["one"], [`${us}/a/b/c/d`], [`${us}/`], [`${us}//one`], ["account.one"], [1], {}, "x", null])
    assert.equal((await asked(wrong)).status, 400, JSON.stringify(wrong));
  assert.equal((await asked(Array.from({ length: 1_001 }, () => `${us}/one`))).status, 400);
});

test("no connector has the name of a path segment", async () => {
  for (const path of ["stats", "fieldValues"]) {
    const named = await create.connector(platform, connectorYaml(path));
    assert.equal(named.status, 400);
    assert.match(named.body.message, /is a path of the interface/);
  }
  await platform.db.query("update connectors set identifier = 'stats' where identifier = 'three'");
  const { body } = await platform.send("GET", `${PATH}/stats?${SHOP}`);
  assert.equal(body.data.connector, undefined);
  assert.equal(body.data.typeStats[0].count, 3);
});
