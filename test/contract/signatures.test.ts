/** The GraphQL operations of the contract, as existing clients use them: arguments, inputs, fields. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isEnumType, isInputObjectType, isObjectType, isRequiredInputField, type GraphQLSchema } from "graphql";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";

let platform: TestPlatform;
let schema: GraphQLSchema;
before(async () => {
  platform = await startTestPlatform();
  ({ schema } = platform.platform);
});
after(() => platform?.stop());

const OPERATIONS: readonly (readonly [
  kind: "Query" | "Mutation",
  name: string,
  args: Readonly<Record<string, string>>,
])[] = [
  ["Query", "secret", { secretId: "String!", secretType: "SecretType!" }],
  ["Query", "secretByName", { name: "String!", secretType: "SecretType" }],
  ["Query", "applications", { limit: "Int" }],
  ["Query", "application", { applicationId: "String!" }],
  ["Query", "executions", { filters: "[ExecutionFilter]", limit: "Int", offset: "Int" }],
  ["Query", "userByName", { name: "String!" }],
  ["Mutation", "createSecret", { input: "CreateSecretInput!" }],
  ["Mutation", "updateSecret", { input: "UpdateSecretInput!" }],
  ["Mutation", "deleteSecret", { input: "DeleteSecretInput!" }],
];

test("the operations have these arguments; an exclamation mark means required", async () => {
  for (const [kind, name, args] of OPERATIONS) {
    const field = schema.getType(kind);
    assert.ok(isObjectType(field));
    const taken = new Map(field.getFields()[name]?.args.map((arg) => [arg.name, String(arg.type)]));
    for (const [arg, type] of Object.entries(args)) assert.equal(taken.get(arg), type, `${name}(${arg})`);
    if (!Object.values(args).some((type) => type.endsWith("!"))) continue;
    const { body } = await platform.graphql(`${kind.toLowerCase()} { ${name} { __typename } }`);
    assert.equal(body.errors[0].extensions.classification, "ValidationError", name);
    assert.equal("data" in body, false, name);
  }
});

test("the inputs have these fields, and without a required one nothing changes", async () => {
  const fields = {
    CreateSecretInput: ["secretType!", "encryptedFile"],
    UpdateSecretInput: ["secretId!", "secretType!", "encryptedFile"],
    DeleteSecretInput: ["secretId!", "secretType!"],
    EncryptedFileInput: ["name!", "secretManagerId", "value", "usageScope", "scopedToAccount", "inheritScopesFromSM"],
  };
  for (const [name, expected] of Object.entries(fields)) {
    const type = schema.getType(name);
    assert.ok(isInputObjectType(type), name);
    const its = Object.values(type.getFields()).map(
      (field) => `${field.name}${isRequiredInputField(field) ? "!" : ""}`,
    );
    for (const field of expected) assert.ok(its.includes(field), `${name}.${field} is not among ${its.join(", ")}`);
  }
  const file = { name: "a file", value: "x" };
  const type = "ENCRYPTED_FILE";
  const none = "AAAAAAAAAAAAAAAAAAAAAA";
  const refused: readonly (readonly [verb: string, selection: string, input: object])[] = [
    ["create", "secret { id }", { encryptedFile: file }],
    ["create", "secret { id }", { secretType: type }],
    ["create", "secret { id }", { secretType: type, encryptedFile: { value: "x" } }],
    ["update", "secret { id }", { secretType: type, encryptedFile: file }],
    ["update", "secret { id }", { secretId: none, encryptedFile: file }],
    ["update", "secret { id }", { secretId: none, secretType: type }],
    ["delete", "clientMutationId", { secretType: type }],
    ["delete", "clientMutationId", { secretId: none }],
  ];
  for (const [verb, selection, input] of refused) {
    const name = `${verb[0]?.toUpperCase()}${verb.slice(1)}SecretInput`;
    const query = `mutation ($secret: ${name}!) { ${verb}Secret(input: $secret) { ${selection} } }`;
    const { body } = await platform.graphql(query, { secret: input });
    const [error] = body.errors;
    assert.match(error.message, /secretType|secretId|encryptedFile|name/, `${verb} ${JSON.stringify(input)}`);
    assert.equal(body.data?.[`${verb}Secret`] ?? null, null);
  }
  assert.deepEqual(await platform.db.query("select id from secrets"), []);
});

test("the types have the fields that clients select", () => {
  const types: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    EncryptedFile: {
      id: "String",
      name: "String",
      secretManagerId: "String",
      usageScope: "UsageScope",
      inheritScopesFromSM: "Boolean",
      scopedToAccount: "Boolean",
    },
    UsageScope: { appEnvScopes: "[AppEnvScope!]" },
    AppEnvScope: { application: "AppScopeFilter", environment: "EnvScopeFilter" },
    AppScopeFilter: { filterType: "ApplicationFilterType", appId: "String" },
    EnvScopeFilter: { filterType: "EnvironmentFilterType", envId: "String" },
    Application: { id: "String", name: "String", pipelines: "PipelineConnection" },
    Pipeline: { id: "String", name: "String", description: "String", createdBy: "User" },
    Execution: {
      id: "String",
      application: "Application",
      status: "ExecutionStatus",
      startedAt: "Long",
      endedAt: "Long",
    },
    User: { id: "String", name: "String" },
    ApplicationConnection: { nodes: "[Application!]" },
    PipelineConnection: { nodes: "[Pipeline!]" },
    ExecutionConnection: { nodes: "[Execution!]" },
    CreateSecretPayload: { secret: "Secret" },
    UpdateSecretPayload: { secret: "Secret" },
    DeleteSecretPayload: { clientMutationId: "String" },
  };
  for (const [name, fields] of Object.entries(types)) {
    const type = schema.getType(name);
    assert.ok(type && "getFields" in type, name);
    for (const [field, of] of Object.entries(fields))
      assert.equal(String(type.getFields()[field]?.type), of, `${name}.${field}`);
  }
  const values = (name: string): readonly string[] => {
    const type = schema.getType(name);
    assert.ok(isEnumType(type), name);
    return type.getValues().map((value) => value.name);
  };
  assert.ok(values("ApplicationFilterType").includes("ALL"));
  assert.ok(values("EnvironmentFilterType").includes("PRODUCTION_ENVIRONMENTS"));
  assert.ok(values("SecretType").includes("ENCRYPTED_FILE"));
});

test("a token without an expiration date is valid after many years", async () => {
  const [token] = await platform.db.query("select valid_to_at from tokens");
  assert.deepEqual(token, { valid_to_at: null });
  platform.clock.advance(50 * 365 * 86_400_000);
  assert.equal((await platform.graphql("{ applications(limit: 1) { nodes { id } } }")).status, 200);
});
