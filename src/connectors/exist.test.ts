import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { grantOf } from "../../test/support/access.ts";
import { connectorYaml, create, made, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { createExist } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";

let platform: TestPlatform;
let actor: Actor;
let statements = 0;
before(async () => {
  platform = await startTestPlatform();
  actor = { kind: "system", accountId: fromWire(platform.accountId) as Uuid };
  await made(create.project(platform, projectYaml()));
  await made(create.connector(platform, connectorYaml("in_account")));
  await made(create.connector(platform, connectorYaml("in_org", "  orgIdentifier: default\n")));
  const project = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, connectorYaml("in_project", project)));
});
after(() => platform?.stop());

const counting = (): Db => ({
  ...platform.db,
  tuples: (text, values) => {
    statements += 1;
    return platform.db.tuples(text, values);
  },
});
const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };

test("references are resolved in order, each from its own scope, by one statement", async () => {
  const exist = createExist({ db: counting() }, "connector");
  const asked = [
    "in_project",
    "none",
    "a b",
    "org.in_org",
    "in_org",
    "account.in_account",
    "account.in_org",
    "in_project",
  ];
  statements = 0;
  assert.deepEqual(await exist(actor, SHOP, asked), [true, false, false, true, false, true, false, true]);
  assert.equal(statements, 1);
  assert.deepEqual(await exist(actor, { orgIdentifier: null, projectIdentifier: null }, ["in_account", "org.in_org"]), [
    true,
    false,
  ]);
  assert.deepEqual(await exist(actor, SHOP, []), []);
});

test("connectors of other accounts and invisible ones do not exist", async () => {
  const exist = createExist({ db: platform.db }, "connector");
  const other: Actor = { kind: "system", accountId: fromWire((await platform.addAccount()).accountId) as Uuid };
  assert.deepEqual(await exist(other, SHOP, ["in_project", "account.in_account"]), [false, false]);
  const guest: Actor = { kind: "delegate", accountId: actor.accountId, id: actor.accountId, name: "guest" };
  assert.deepEqual(await exist(guest, SHOP, ["in_project"]), [false]);
});

test("a run does not use connectors that the actor may only see", async () => {
  const exist = createExist({ db: platform.db }, "connector");
  const { accountId } = actor;
  const person = { kind: "user", accountId, id: accountId, name: "a", email: "a@example.com" } as const;
  const viewer: Actor = { ...person, grants: [grantOf("_project_viewer", SHOP)] };
  await assert.rejects(exist(viewer, SHOP, ["in_project"]), { code: "access.not_permitted" });
  assert.deepEqual(await exist(viewer, SHOP, ["account.in_account"]), [false], "what they may not see is not there");
  const executor: Actor = { ...person, grants: [...viewer.grants, grantOf("_pipeline_executor", SHOP)] };
  assert.deepEqual(await exist(executor, SHOP, ["in_project"]), [true]);
});
