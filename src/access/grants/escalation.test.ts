/** Whether one set of grants contains everything that another grants: the rule against granting more than one holds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grant } from "../../core/grants.ts";
import { holdsAll } from "./escalation.ts";

const grant = (more: Partial<Grant> = {}): Grant => ({
  scope: {},
  children: false,
  permissions: new Set(["core_connector_view"]),
  resources: "all",
  ...more,
});
const ORG = { orgIdentifier: "default" };
const SHOP = { ...ORG, projectIdentifier: "shop" };
const PLACES: readonly (readonly [name: string, grant: Grant])[] = [
  ["account", grant()],
  ["account and below", grant({ children: true })],
  ["org", grant({ scope: ORG })],
  ["org and below", grant({ scope: ORG, children: true })],
  ["shop", grant({ scope: SHOP })],
  ["shop and below", grant({ scope: SHOP, children: true })],
  ["bank", grant({ scope: { ...ORG, projectIdentifier: "bank" } })],
  ["other org and below", grant({ scope: { orgIdentifier: "other" }, children: true })],
  ["shop of the other org", grant({ scope: { orgIdentifier: "other", projectIdentifier: "shop" } })],
];

test("a scope is covered by a grant in it, or by a grant above it that includes child scopes", () => {
  const held = PLACES.map(([name, own]) => [
    name,
    PLACES.filter(([, given]) => holdsAll([own], [given])).map(([of]) => of),
  ]);
  const inShop = ["shop", "shop and below"];
  assert.deepEqual(held, [
    ["account", ["account"]],
    ["account and below", PLACES.map(([name]) => name)],
    ["org", ["org"]],
    ["org and below", ["org", "org and below", ...inShop, "bank"]],
    ["shop", inShop],
    ["shop and below", inShop],
    ["bank", ["bank"]],
    ["other org and below", ["other org and below", "shop of the other org"]],
    ["shop of the other org", ["shop of the other org"]],
  ]);
});

test("all resources of a type are covered by a grant on all, single ones by a grant on each, from any scope", () => {
  const some = (...names: readonly string[]): Grant => grant({ resources: new Map([["CONNECTOR", new Set(names)]]) });
  const type = grant({ resources: new Map([["CONNECTOR", "all"]]) });
  const others = grant({ resources: new Map([["SECRET", "all"]]) });
  assert.equal(holdsAll([some("a"), some("b")], [some("a", "b")]), true);
  assert.equal(holdsAll([some("a")], [some("a", "b")]), false);
  assert.equal(holdsAll([some("a", "b")], [type]), false);
  assert.equal(holdsAll([some("a", "b")], [grant()]), false);
  assert.equal(holdsAll([type], [some("a"), type, grant()]), true);
  assert.equal(holdsAll([others], [some("a")]), false);
  assert.equal(holdsAll([some("a")], [others]), true, "of a type that the permission is not about nothing is given");
});

test("each permission is checked on its own, and an empty set covers nothing", () => {
  const more = grant({ permissions: new Set(["core_connector_view", "core_connector_edit"]) });
  const edit = grant({ permissions: new Set(["core_connector_edit"]) });
  assert.equal(holdsAll([grant()], [more]), false);
  assert.equal(holdsAll([grant(), edit], [more]), true);
  assert.equal(holdsAll([], [grant()]), false);
  assert.equal(holdsAll([], []), true);
});

test("the work grows with the number of grants, not with its square", () => {
  let calls = 0;
  class Counted extends Set<string> {
    override has(permission: string): boolean {
      calls += 1;
      return super.has(permission);
    }
  }
  const grants = Array.from({ length: 1_000 }, (_, i) =>
    grant({
      scope: { ...ORG, projectIdentifier: `p${i}` },
      permissions: new Counted(["core_connector_view", "core_connector_edit"]),
    }),
  );
  assert.equal(holdsAll(grants, grants), true);
  assert.ok(calls <= 2 * 1_000, `${calls} look-ups`);
});
