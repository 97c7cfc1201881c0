/** Many uses judged at once: each gets the answer that it would get alone, for the statements of one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, JSON_TYPE, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { adminOf, secretsOf } from "../../../test/support/secrets.ts";
import type { Db } from "../../platform/db/db.ts";

const HOME = { orgIdentifier: "default", projectIdentifier: "shop" } as const;
const OF_PLACE = [{}, { orgIdentifier: "default" }, HOME];
let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  for (const place of OF_PLACE) {
    const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
    const secret = { type: "SecretText", name: "key", identifier: "key", ...place, spec };
    await made(
      platform.send("POST", `/ng/api/v2/secrets?${new URLSearchParams(place).toString()}`, {
        contentType: JSON_TYPE,
        body: JSON.stringify({ secret }),
      }),
    );
  }
});
after(() => platform?.stop());

/** `asked` has the identifiers that each statement was about. */
function counted() {
  const asked: unknown[] = [];
  const query: Db["query"] = (text, values) => {
    asked.push(values?.at(-1));
    return platform.db.query(text, values);
  };
  return { asked, checkUses: secretsOf({ ...platform, db: { ...platform.db, query } }).checkUses };
}

test("thousands of uses of the same secrets take one statement, and each has its own answer", async () => {
  const { asked, checkUses } = counted();
  const permissions = new Set(["core_secret_view"]);
  const [account, org] = [{}, { orgIdentifier: "default" }];
  const may = new Set(["core_secret_view", "core_secret_access"]);
  const actor = {
    ...adminOf(platform),
    grants: [
      { scope: account, children: false, permissions: may, resources: "all" as const },
      { scope: org, children: false, permissions, resources: "all" as const },
    ],
  };
  const uses = [
    { reference: "account.key", as: "value" as const },
    { reference: "account.key", as: "login" as const },
    { reference: "org.key", as: "value" as const },
    { reference: "key", as: "value" as const },
    { reference: "account.none", as: "value" as const },
    { reference: "no.reference", as: "file" as const },
  ];
  const expected = [
    undefined,
    "missing: The secret 'account.key' is no SSH credential",
    "refused: The secret 'org.key' may not be used: core_secret_access is missing",
    "missing: No secret 'key' exists",
    "missing: No secret 'account.none' exists",
    "missing: No secret 'no.reference' exists",
  ];
  const answers = await checkUses(actor, HOME, Array.from({ length: 500 }, () => uses).flat());
  assert.deepEqual(
    answers.map((answer) => answer && `${answer.kind}: ${answer.message}`),
    Array.from({ length: 500 }, () => expected).flat(),
  );
  assert.deepEqual(asked, [["key", "key", "none"]]);
});

test("without visible secrets, nothing is looked up", async () => {
  const { asked, checkUses } = counted();
  const nobody = { ...adminOf(platform), grants: [] };
  assert.equal((await checkUses(nobody, HOME, [{ reference: "account.key", as: "value" }]))[0]?.kind, "missing");
  assert.deepEqual(await checkUses(adminOf(platform), HOME, []), []);
  assert.deepEqual(asked, []);
});
