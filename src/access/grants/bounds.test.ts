/** The numbers of role assignments and of entries of resource groups in a scope are limited. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { fromWire } from "../../core/ids.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const SHOP = "orgIdentifier=default&projectIdentifier=shop";
const send = (method: string, path: string, body?: object): Promise<Answer> =>
  platform.send(method, path, body ? { body: JSON.stringify(body), contentType: JSON_TYPE } : {});

async function tooMany(answer: Promise<Answer>, words: RegExp): Promise<void> {
  const { status, text } = await answer;
  assert.equal(status, 400, text);
  assert.match(text, /USAGE_LIMITS_EXCEEDED/);
  assert.match(text, words);
}

/** Adds assignments to the project until it has `number`, with one statement. */
const fill = (number: number): Promise<unknown> =>
  platform.db.query(
    `insert into role_assignments
       (account_id, id, org_identifier, project_identifier, identifier, principal_type, principal_id, principal_identifier,
        principal_level, role_identifier, role_level, resource_group_identifier, disabled, created_at, updated_at)
     select $1, gen_random_uuid(), 'default', 'shop', 'fill_' || n, 'USER', gen_random_uuid(), 'u' || n,
            'account', '_project_viewer', 'project', '_all_project_level_resources', true, 1, 1
       from generate_series(1, $2 - (select count(*)::int from role_assignments where project_identifier = 'shop')) n`,
    [fromWire(platform.accountId), number],
  );

test("a project has at most 1,000 role assignments; those refused leave nothing behind", async () => {
  const assignment = (identifier: string) => ({
    identifier,
    principal: { identifier: "_project_all_users", type: "USER_GROUP" },
    roleIdentifier: identifier === "a" ? "_project_viewer" : "_pipeline_executor",
    resourceGroupIdentifier: "_all_project_level_resources",
  });
  await fill(999);
  const both = { roleAssignments: [assignment("a"), assignment("b")] };
  await tooMany(send("POST", `/authz/api/roleassignments/multi?${SHOP}`, both), /at most 1000 role assignments/);
  await made(send("POST", `/authz/api/roleassignments?${SHOP}`, assignment("a")));
  await tooMany(send("POST", `/authz/api/roleassignments?${SHOP}`, assignment("b")), /at most 1000 role assignments/);
  await made(send("DELETE", `/authz/api/roleassignments/a?${SHOP}`));
  await made(send("POST", `/authz/api/roleassignments?${SHOP}`, assignment("b")));
});

const GROUPS = "/authz/api/v2/resourcegroup";
const group = (identifier: string, more: object) => ({
  resourceGroup: { identifier, name: identifier, orgIdentifier: "default", projectIdentifier: "shop", ...more },
});
const own = { filter: "EXCLUDING_CHILD_SCOPES", orgIdentifier: "default", projectIdentifier: "shop" };

test("repeated scopes of a resource group are stored once", async () => {
  const repeated = group("wide", { includedScopes: Array.from({ length: 100 }, () => own) });
  const { resourceGroup } = await made(send("POST", `${GROUPS}?${SHOP}`, repeated));
  assert.equal(resourceGroup.includedScopes.length, 1);
});

test("the resource groups of a scope have at most 10,000 scopes and identifiers, with those that an update adds", async () => {
  const names = (of: string, number: number) => ({
    resourceFilter: {
      resources: Array.from({ length: Math.ceil(number / 1_000) }, (_, i) => ({
        resourceType: ["SECRET", "CONNECTOR", "PIPELINE", "SERVICE", "ENVIRONMENT"][i],
        identifiers: Array.from({ length: Math.min(1_000, number - i * 1_000) }, (_, n) => `${of}${n}`),
      })),
    },
  });
  for (const [identifier, number] of [
    ["a", 2_500],
    ["b", 2_500],
    ["c", 2_500],
    ["d", 2_400],
  ] as const)
    await made(send("POST", `${GROUPS}?${SHOP}`, group(identifier, names(identifier, number))));
  await tooMany(send("POST", `${GROUPS}?${SHOP}`, group("e", names("e", 100))), /at most 10000 included scopes/);
  await tooMany(send("PUT", `${GROUPS}/d?${SHOP}`, group("d", names("d", 2_500))), /at most 10000 included scopes/);
  await made(send("PUT", `${GROUPS}/a?${SHOP}`, group("a", names("a", 2_000))));
  await made(send("POST", `${GROUPS}?${SHOP}`, group("e", names("e", 100))));
});
