import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../core/ids.ts";
import { CATALOGUE } from "./catalogue.ts";
import { create, JSON_TYPE, made, projectYaml } from "../../test/support/contract.ts";
import { requestDuringChange } from "../../test/support/request-during-change.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { lockSettings } from "./store.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

const WEBHOOK = "mandate_custom_webhook_authorization";
const ORG = "orgIdentifier=default";
const PROJECT = `${ORG}&projectIdentifier=shop`;

const put = (entries: unknown, query = ""): Promise<Answer> =>
  platform.send("PUT", `/gateway/ng/api/settings?${query}`, { contentType: JSON_TYPE, body: JSON.stringify(entries) });
const entry = (identifier: string, value: string, allowOverrides = false, updateType = "UPDATE") => ({
  identifier,
  value,
  allowOverrides,
  updateType,
});
const valueAt = async (identifier: string, query = ""): Promise<string> =>
  (await made(platform.send("GET", `/ng/api/settings/${identifier}?${query}`))).value;

test("the four SCIM settings of the contract in one call, with a result for each", async () => {
  platform.clock.advance(1_000);
  const values: Readonly<Record<string, string>> = {
    scim_jwt_token_jwks_keys_url: "https://idp.example.com/keys",
    scim_jwt_token_key_field: "preferred_username",
    scim_jwt_token_value_field: "scim",
    scim_jwt_token_service_account_id: "scim_account",
  };
  const answer = await put(Object.entries(values).map(([identifier, value]) => entry(identifier, value)));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.status, answer.body.metaData], ["SUCCESS", null]);
  const now = platform.clock.now();
  for (const [at, [identifier, value]] of Object.entries(values).entries()) {
    const { setting, ...result } = answer.body.data[at];
    assert.deepEqual(result, { identifier, lastModifiedAt: now, updateStatus: true, errorMessage: null });
    assert.deepEqual(
      { ...setting, name: "" },
      {
        identifier,
        name: "",
        orgIdentifier: null,
        projectIdentifier: null,
        category: "CORE",
        groupIdentifier: "scim",
        valueType: "String",
        allowedValues: null,
        allowOverrides: false,
        value,
        defaultValue: "",
        settingSource: "ACCOUNT",
        isSettingEditable: true,
        allowedScopes: ["account"],
      },
    );
    assert.equal(await valueAt(identifier), value);
  }
  const rows = await platform.db.query("select operation from audit_entries where resource_type = 'SETTING'");
  assert.equal(rows.length, 4);
});

test("a rejected change has a reason, changes nothing and does not affect the others", async () => {
  const bad = [
    entry("no_such_setting", "x"),
    entry("scim_jwt_token_jwks_keys_url", "ftp://x"),
    entry("scim_jwt_token_key_field", " "),
    entry("scim_jwt_token_service_account_id", "no account"),
    entry("requests_per_minute_token", "-1"),
    entry("requests_per_minute_account", "0"),
    entry(WEBHOOK, "yes"),
    entry("scim_jwt_token_value_field", "x".repeat(2_049)),
  ];
  const good = entry("scim_jwt_token_value_field", "other");
  // The last of the bad ones and the good one name the same setting; the first mention counts.
  const answer = await put([...bad.slice(0, -1), good, bad.at(-1)]);
  assert.equal(answer.status, 200, answer.text);
  const outcomes = answer.body.data as { updateStatus: boolean; setting: unknown; errorMessage: string | null }[];
  assert.deepEqual(
    outcomes.map(({ updateStatus }) => updateStatus),
    [false, false, false, false, false, false, false, true, false],
  );
  assert.deepEqual(
    outcomes.map(({ errorMessage }) => errorMessage),
    [
      "no_such_setting is no setting.",
      "scim_jwt_token_jwks_keys_url must be an http or https address without a user name in it.",
      "scim_jwt_token_key_field must not be empty.",
      "scim_jwt_token_service_account_id must be the identifier of a service account.",
      "requests_per_minute_token must be a whole number from 0 to 999999999.",
      "requests_per_minute_account must be at least 1.",
      `${WEBHOOK} must be true or false.`,
      null,
      "scim_jwt_token_value_field is given twice in one request.",
    ],
  );
  assert.equal(await valueAt("scim_jwt_token_key_field"), "preferred_username");
  assert.equal(await valueAt("scim_jwt_token_value_field"), "other");
  // A value of another type is wrong for its setting, not for the request.
  const typed = (identifier: string, value: unknown) => ({ ...entry(identifier, ""), value });
  const others = await put([
    typed("scim_jwt_token_key_field", 5),
    typed("scim_jwt_token_jwks_keys_url", { url: "https://x" }),
    typed(WEBHOOK, ["true"]),
    typed("requests_per_minute_account", true),
    typed("requests_per_minute_token", 5_000),
    typed("scim_jwt_token_value_field", "third"),
  ]);
  assert.equal(others.status, 200, others.text);
  assert.deepEqual(
    (others.body.data as { errorMessage: string | null }[]).map(({ errorMessage }) => errorMessage),
    [
      "scim_jwt_token_key_field must be a text; write it in quotes.",
      "scim_jwt_token_jwks_keys_url must be a text; write it in quotes.",
      `${WEBHOOK} must be a truth value.`,
      "requests_per_minute_account must be a number.",
      null,
      null,
    ],
  );
  assert.equal(await valueAt("scim_jwt_token_key_field"), "preferred_username");
  assert.equal(await valueAt("requests_per_minute_token"), "5000");
  assert.equal(await valueAt("scim_jwt_token_value_field"), "third");
  const tooLong = await put([bad.at(-1)]);
  assert.match(tooLong.body.data[0].errorMessage, /longer than 2048/);
});

test("a child inherits the value of its parent unless it may override it", async () => {
  const all = async (): Promise<readonly string[]> => [
    await valueAt(WEBHOOK),
    await valueAt(WEBHOOK, ORG),
    await valueAt(WEBHOOK, PROJECT),
  ];
  assert.deepEqual(await all(), ["false", "false", "false"]);
  await put([entry(WEBHOOK, "true", true)]);
  assert.deepEqual(await all(), ["true", "true", "true"]);
  assert.equal((await put([entry(WEBHOOK, "false", true)], PROJECT)).body.data[0].setting.settingSource, "PROJECT");
  assert.deepEqual(await all(), ["true", "true", "false"]);
  // The organization forbids it: the project's own value is kept, and does not count.
  await put([entry(WEBHOOK, "true", false)], ORG);
  assert.deepEqual(await all(), ["true", "true", "true"]);
  const refused = await put([entry(WEBHOOK, "false")], PROJECT);
  assert.equal(refused.body.data[0].errorMessage, `${WEBHOOK} may not be overridden here.`);
  const listed = await made(platform.send("GET", `/ng/api/settings?category=PMS&${PROJECT}`));
  assert.deepEqual(
    listed.map(({ setting }: { setting: Record<string, unknown> }) => [
      setting["identifier"],
      setting["value"],
      setting["settingSource"],
      setting["isSettingEditable"],
    ]),
    [
      ["concurrent_executions_per_project", "0", "DEFAULT", true],
      ["concurrent_executions_per_pipeline", "0", "DEFAULT", true],
      [WEBHOOK, "true", "ORG", false],
    ],
  );
  const restored = await put([entry(WEBHOOK, "", false, "RESTORE")], ORG);
  assert.equal(restored.body.data[0].setting.settingSource, "ACCOUNT");
  assert.deepEqual(await all(), ["true", "true", "false"]);
  await put([entry(WEBHOOK, "", false, "RESTORE")]);
  assert.deepEqual(await all(), ["false", "false", "false"]);
});

test("a setting of the account cannot be set below it, and is listed there only when asked for", async () => {
  const answer = await put([entry("scim_jwt_token_key_field", "x")], PROJECT);
  assert.equal(answer.body.data[0].errorMessage, "scim_jwt_token_key_field can be set for the account only.");
  const count = async (more: string): Promise<number> =>
    (await made(platform.send("GET", `/ng/api/settings?category=CORE&${PROJECT}${more}`))).length;
  assert.equal(await count(""), 0);
  const ofAccount = CATALOGUE.filter(({ category }) => category === "CORE");
  assert.equal(await count("&includeParentScopes=true"), ofAccount.length);
  assert.equal(await count("&includeParentScopes=true&group=scim"), 4);
});

test("faults of the whole request get 400 or 404", async () => {
  const wrong: unknown[] = [
    {},
    [{ identifier: "x" }],
    [{ ...entry("x", "y"), allowOverrides: "no" }],
    [entry("x", "y", true, "SET")],
    "x",
  ];
  for (const body of wrong) assert.equal((await put(body)).status, 400, JSON.stringify(body));
  assert.equal((await platform.send("GET", "/ng/api/settings")).status, 400);
  const unknown = await platform.send("GET", "/ng/api/settings?category=XX");
  assert.match(`${unknown.status} ${unknown.body.message}`, /^400 Query parameter category takes one of CORE, PMS, CD/);
  // A category of the wide language without settings is an empty list.
  assert.deepEqual(await made(platform.send("GET", "/ng/api/settings?category=CD")), []);
  assert.equal((await platform.send("GET", "/ng/api/settings/nothing")).status, 404);
  assert.equal((await put([], `${ORG}&projectIdentifier=none`)).status, 404);
  assert.equal((await put([], "projectIdentifier=shop")).status, 400);
});

test("an update waits for one under way, and does not pass a parent that forbids", async () => {
  await put([entry(WEBHOOK, "true", true)]);
  const child = await requestDuringChange(
    platform.db,
    async (tx) => {
      await lockSettings(tx, fromWire(platform.accountId) as Uuid);
      await tx.query("update settings set allow_overrides = false where identifier = $1", [WEBHOOK]);
    },
    () => put([entry(WEBHOOK, "false", false)], PROJECT),
  );
  assert.equal(child.body.data[0].errorMessage, `${WEBHOOK} may not be overridden here.`);
  assert.equal(await valueAt(WEBHOOK, PROJECT), "true");
  await put([entry(WEBHOOK, "", false, "RESTORE")]);
  await put([entry(WEBHOOK, "", false, "RESTORE")], PROJECT);
});
