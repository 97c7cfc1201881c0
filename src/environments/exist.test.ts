import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { grantOf } from "../../test/support/access.ts";
import { create, eventually, JSON_TYPE, made, projectYaml } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { createAudit } from "../audit/index.ts";
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import { authorize } from "../access/index.ts";
import { createEnvironments } from "./index.ts";

let platform: TestPlatform;
let actor: Actor;
let exist: ReturnType<typeof createEnvironments>["exist"];
let statements = 0;
const never = (): never => assert.fail("asking what exists needs nothing else");

before(async () => {
  platform = await startTestPlatform();
  actor = { kind: "system", accountId: fromWire(platform.accountId) as Uuid };
  await made(create.project(platform, projectYaml()));
  const db: typeof platform.db = {
    ...platform.db,
    tuples: (text, values) => {
      statements += 1;
      return platform.db.tuples(text, values);
    },
  };
  const audit = createAudit({ clock: platform.clock, newId: never });
  ({ exist } = createEnvironments({
    db,
    audit,
    authorize,
    dereference: never,
    requireScope: never,
    clock: platform.clock,
    newId: never,
  }));
});
after(() => platform?.stop());

const SHOP = { orgIdentifier: "default", projectIdentifier: "shop" };
const ORG = { orgIdentifier: "default" };
const post = (path: string, body: object) =>
  platform.send("POST", `/ng/api/${path}`, { contentType: JSON_TYPE, body: JSON.stringify(body) });

test("references are resolved in order, each from its own scope, by one statement", async () => {
  for (const [path, more] of [
    ["environmentsV2", { type: "Production" }],
    ["servicesV2", {}],
  ] as const)
    for (const [identifier, scope] of [
      ["in_account", {}],
      ["in_org", ORG],
      ["in_project", SHOP],
    ] as const)
      await made(post(path, { identifier, name: "x", ...scope, ...more }));
  const asked = ["in_project", "none", "a b", "org.in_org", "in_org", "account.in_account", "account.in_org"];
  const answer = [true, false, false, true, false, true, false];
  for (const ask of [exist.environment, exist.service]) {
    statements = 0;
    assert.deepEqual(await ask(actor, SHOP, asked), answer);
    assert.equal(statements, 1);
    assert.deepEqual(await ask(actor, SHOP, []), []);
  }
});

test("connectors of other accounts and invisible ones do not exist", async () => {
  const other: Actor = { kind: "system", accountId: fromWire((await platform.addAccount()).accountId) as Uuid };
  assert.deepEqual(await exist.environment(other, SHOP, ["in_project", "account.in_account"]), [false, false]);
  const guest: Actor = { kind: "delegate", accountId: actor.accountId, id: actor.accountId, name: "guest" };
  assert.deepEqual(await exist.service(guest, SHOP, ["in_project"]), [false]);
});

test("a run does not use connectors that the actor may only see", async () => {
  const { accountId } = actor;
  const person = { kind: "user", accountId, id: accountId, name: "a", email: "a@example.com" } as const;
  const viewer: Actor = { ...person, grants: [grantOf("_project_viewer", SHOP)] };
  const executor: Actor = { ...person, grants: [...viewer.grants, grantOf("_pipeline_executor", SHOP)] };
  for (const ask of [exist.environment, exist.service]) {
    await assert.rejects(ask(viewer, SHOP, ["in_project"]), { code: "access.not_permitted" });
    assert.deepEqual(await ask(executor, SHOP, ["in_project"]), [true]);
  }
});

test("a project that is deleted while something is made in it is a project that does not exist", async () => {
  await made(create.project(platform, projectYaml("vanishing")));
  const scope = { orgIdentifier: "default", projectIdentifier: "vanishing" };
  const asking = await platform.db.transaction(async (tx) => {
    await tx.query("delete from projects where identifier = 'vanishing'");
    const answer = post("servicesV2", { identifier: "late", name: "Late", ...scope });
    // It has seen the project, and waits for what becomes of it.
    await eventually(async () => {
      const waiting = await platform.db.query("select 1 from pg_locks where not granted");
      return waiting.length > 0 ? true : undefined;
    });
    return { answer };
  });
  const { status, body } = await asking.answer;
  assert.deepEqual([status, body.code], [404, "RESOURCE_NOT_FOUND_EXCEPTION"]);
});
