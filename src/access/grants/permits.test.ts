/** Rights of a grant: at account, organization and project, in child scopes, on all resources or on some. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Actor } from "../../core/actor.ts";
import type { Grant } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import { authorizeSomewhere, permits, reach, seen } from "./permits.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const holder = (...grants: Grant[]): Actor => ({
  kind: "user",
  accountId,
  id: accountId,
  name: "ada",
  email: "ada@example.com",
  grants,
});
const grant = (more: Partial<Grant> = {}): Grant => ({
  scope: {},
  children: false,
  permissions: new Set(["core_connector_view", "core_connector_edit"]),
  resources: "all",
  ...more,
});
const ACCOUNT = { accountId };
const ORG = { ...ACCOUNT, orgIdentifier: "default" };
const PROJECT = { ...ORG, projectIdentifier: "shop" };
const OTHER_PROJECT = { ...ORG, projectIdentifier: "bank" };
const OTHER_ORG = { ...ACCOUNT, orgIdentifier: "other" };
const EVERY = [ACCOUNT, ORG, PROJECT, OTHER_PROJECT, OTHER_ORG];

/** The result of the check for each scope of EVERY. */
const where = (actor: Actor): boolean[] => EVERY.map((scope) => permits(actor, "core_connector_view", scope));

test("a grant covers its scope, and child scopes only if it includes them", () => {
  assert.deepEqual(where(holder(grant())), [true, false, false, false, false]);
  assert.deepEqual(where(holder(grant({ children: true }))), [true, true, true, true, true]);
  const inOrg = { scope: { orgIdentifier: "default" } };
  assert.deepEqual(where(holder(grant(inOrg))), [false, true, false, false, false]);
  assert.deepEqual(where(holder(grant({ ...inOrg, children: true }))), [false, true, true, true, false]);
  const inShop = { scope: { orgIdentifier: "default", projectIdentifier: "shop" } };
  assert.deepEqual(where(holder(grant(inShop))), [false, false, true, false, false]);
  assert.deepEqual(where(holder()), [false, false, false, false, false]);
});

test("grants add up, and none takes away", () => {
  const inShop = { scope: { orgIdentifier: "default", projectIdentifier: "shop" } };
  assert.deepEqual(where(holder(grant(inShop), grant())), [true, false, true, false, false]);
  assert.deepEqual(where(holder(grant({ permissions: new Set() }), grant())), [true, false, false, false, false]);
});

test("each permission is separate: edit does not include delete, and no grant covers another account", () => {
  assert.equal(permits(holder(grant()), "core_connector_delete", ACCOUNT), false);
  assert.equal(permits(holder(grant()), "core_secret_view", ACCOUNT), false);
  const elsewhere = { accountId: "01a1fc75-fee1-7000-8000-000000000002" as Uuid };
  assert.equal(permits(holder(grant({ children: true })), "core_connector_view", elsewhere), false);
});

test("a group of single resources grants those, and nothing in general", () => {
  const some = holder(grant({ resources: new Map([["CONNECTOR", new Set(["images"])]]) }));
  assert.equal(permits(some, "core_connector_view", ACCOUNT, "images"), true);
  assert.equal(permits(some, "core_connector_view", ACCOUNT, "cluster"), false);
  assert.equal(permits(some, "core_connector_view", ACCOUNT), false);
  assert.equal(permits(some, "core_connector_view", ORG, "images"), false);
  assert.deepEqual(seen(some, "core_connector_view", ACCOUNT), new Set(["images"]));
  assert.deepEqual(seen(some, "core_connector_view", ORG), new Set());
  const type = holder(grant({ resources: new Map([["CONNECTOR", "all"]]) }));
  assert.equal(seen(type, "core_connector_view", ACCOUNT), "all");
  assert.equal(permits(type, "core_connector_view", ACCOUNT, "cluster"), true);
  const others = holder(grant({ resources: new Map([["SECRET", "all"]]) }));
  assert.equal(permits(others, "core_connector_view", ACCOUNT, "images"), false);
});

test("an organization is a resource of its account, a project one of its organization", () => {
  const orgs = new Set(["core_organization_view", "core_project_view"]);
  const ofAccount = holder(grant({ permissions: orgs }));
  assert.equal(permits(ofAccount, "core_organization_view", ORG), true);
  assert.equal(permits(ofAccount, "core_project_view", PROJECT), false);
  const one = holder(grant({ permissions: orgs, resources: new Map([["ORGANIZATION", new Set(["default"])]]) }));
  assert.equal(permits(one, "core_organization_view", ORG), true);
  assert.equal(permits(one, "core_organization_view", OTHER_ORG), false);
  const ofOrg = holder(grant({ permissions: orgs, scope: { orgIdentifier: "default" } }));
  assert.equal(permits(ofOrg, "core_project_view", PROJECT), true);
  assert.equal(permits(ofOrg, "core_organization_view", ORG), true);
  assert.equal(permits(ofOrg, "core_organization_view", OTHER_ORG), false);
});

test("reach: the scopes and resources that a list over the whole account may show", () => {
  assert.equal(reach(holder(grant({ children: true })), "core_connector_view"), "all");
  assert.deepEqual(reach(holder(grant()), "core_secret_view"), []);
  const inShop = { scope: { orgIdentifier: "default", projectIdentifier: "shop" } };
  const resources = new Map([["CONNECTOR", new Set(["images"])]]);
  assert.deepEqual(reach(holder(grant(), grant({ ...inShop, resources })), "core_connector_view"), [
    { orgIdentifier: null, projectIdentifier: null, children: false, identifiers: null },
    { orgIdentifier: "default", projectIdentifier: "shop", children: false, identifiers: ["images"] },
  ]);
  const delegate: Actor = { kind: "delegate", accountId, id: accountId, name: "d" };
  assert.throws(() => authorizeSomewhere(delegate, "core_connector_view"), /Missing permission core_connector_view/);
  authorizeSomewhere(holder(grant(inShop)), "core_connector_view");
});
