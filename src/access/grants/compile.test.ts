/** Merged grants permit what the assignments permit one by one, and their number does not grow with the assignments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scope } from "../../core/scope.ts";
import type { Uuid } from "../../core/ids.ts";
import type { GrantRow } from "../store/grants.ts";
import { compile } from "./compile.ts";
import { holdsAll } from "./escalation.ts";
import type { Permission } from "./permission.ts";
import { permitsWith } from "./permits.ts";

const accountId = "01a1fc75-fee1-7000-8000-000000000001" as Uuid;
const SHOP = { org: "default", project: "shop" };

const row = (more: Partial<GrantRow> = {}): GrantRow => ({
  ...SHOP,
  role: "deployers",
  permissions: ["core_connector_view", "core_pipeline_view"],
  resourceGroup: "all",
  included: [{ ...SHOP, children: false }],
  everyResource: true,
  resources: [],
  ...more,
});
const some = (name: string, resources: GrantRow["resources"], permissions = row().permissions): GrantRow =>
  row({ resourceGroup: name, everyResource: false, resources, permissions });

test("assignments of many roles over many groups, each with repeated scopes, become one grant in each scope", () => {
  const own = { ...SHOP, children: false };
  const rows = Array.from({ length: 1_000 }, (_, i) =>
    row({ role: `r${i}`, resourceGroup: `g${i % 40}`, included: Array.from({ length: 20 }, () => own) }),
  );
  const org = row({
    org: "default",
    project: null,
    resourceGroup: "_all_organization_level_resources",
    included: null,
  });
  const grants = compile([...rows, org]);
  assert.equal(grants.length, 2);
  assert.deepEqual(grants, [
    {
      scope: { orgIdentifier: "default", projectIdentifier: "shop" },
      children: false,
      permissions: new Set(row().permissions),
      resources: "all",
    },
    {
      scope: { orgIdentifier: "default" },
      children: false,
      permissions: new Set(row().permissions),
      resources: "all",
    },
  ]);
});

test("assignments over single resources become one grant for each permission", () => {
  const rows = Array.from({ length: 100 }, (_, i) =>
    some(`g${i}`, [{ type: "CONNECTOR", identifiers: [`c${i % 10}`] }]),
  );
  const names = new Set(Array.from({ length: 10 }, (_, i) => `c${i}`));
  assert.deepEqual(
    compile(rows).map(({ permissions, resources }) => [permissions, resources]),
    [
      [new Set(["core_connector_view"]), new Map([["CONNECTOR", names]])],
      [new Set(["core_pipeline_view"]), new Map()],
    ],
  );
});

test("merged grants permit what each assignment alone permits, and contain each other", () => {
  const named = (identifiers: readonly string[] | null) => [{ type: "CONNECTOR", identifiers }];
  const edit = ["core_connector_edit", "core_secret_view"];
  const rows: readonly GrantRow[] = [
    some("a", named(["a"])),
    some("b", named(["b"]), edit),
    some("empty", named([])),
    some("pipelines", [{ type: "PIPELINE", identifiers: null }]),
    row({ project: null, resourceGroup: "below", included: [{ org: "default", project: null, children: true }] }),
    row({ project: "bank", resourceGroup: "bank", included: [{ org: "default", project: "bank", children: false }] }),
    row({ project: "bank", resourceGroup: "_all_project_level_resources", included: null, permissions: edit }),
  ];
  const scopes: readonly Scope[] = [
    { accountId },
    { accountId, orgIdentifier: "default" },
    ...["shop", "bank"].map((project) => ({ accountId, orgIdentifier: "default", projectIdentifier: project })),
  ];
  const asked: readonly Permission[] = ["core_connector_view", "core_connector_edit", "core_pipeline_view"];
  const answersOf = (groups: readonly (readonly GrantRow[])[]): readonly boolean[] =>
    scopes.flatMap((scope) =>
      asked.flatMap((permission) =>
        [undefined, "a", "b", "c"].map((name) =>
          groups.some((group) => permitsWith(compile(group), permission, scope, name)),
        ),
      ),
    );
  for (let set = 0; set < 2 ** rows.length; set++) {
    const chosen = rows.filter((_, i) => (set & (1 << i)) !== 0);
    assert.deepEqual(answersOf([chosen]), answersOf(chosen.map((one) => [one])), `set ${set}`);
    const apart = chosen.flatMap((one) => compile([one]));
    assert.ok(holdsAll(apart, compile(chosen)) && holdsAll(compile(chosen), apart), `set ${set}`);
  }
});
