/**
 * Checks of credential, account and permission over all routes and all fields of the schema, so that new ones are
 * covered, too. Bodies are the examples of the routes' documentation.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  execute,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
  type GraphQLField,
  type GraphQLInputType,
} from "graphql";
import { fromWire, type Uuid } from "../../../src/core/ids.ts";
import type { Actor } from "../../../src/core/actor.ts";
import type { PrivateRoute, Route } from "../../../src/platform/http/routes.ts";
import { create, JSON_TYPE, made, createTargets, pipelineYaml, projectYaml } from "../../support/contract.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../support/platform.ts";

const PERMISSION = /^core_[a-z]+_(view|create|edit|execute|abort|delete|access|manage|invite|manageapikey)$/;
const UNKNOWN_ACCOUNT = "AAAAAAAAAAAAAAAAAAAAAA";
const QUERY =
  "orgIdentifier=default&projectIdentifier=shop&targetIdentifier=t&interruptType=AbortAll&tokenName=n&eventId=e&pipelineIdentifier=x&identifier=x&nodeExecutionId=x&auditId=x&prefix=x&planExecutionId=x";

const queryOf = ({ doc }: Route): string =>
  `${QUERY}&${new URLSearchParams(own(typeof doc === "string" ? {} : doc.queryExample)).toString()}`;
/** Query parameters that QUERY does not contain. */
const own = (example: Readonly<Record<string, string>> = {}): [string, string][] =>
  Object.entries(example).filter(([name]) => !new URLSearchParams(QUERY).has(name));

/** The example body of the route's documentation. The server may check a body before the permission. */
const bodyOf = ({ doc }: Route): Pick<SendOptions, "body" | "contentType"> => {
  const { root, example, types } = (typeof doc === "string" ? undefined : doc.body) ?? { example: undefined };
  if (example === undefined || types?.every((type) => type.startsWith("multipart/"))) return {};
  const body = root === undefined ? example : { [root]: example };
  return { body: typeof body === "string" ? body : JSON.stringify(body), contentType: types?.[0] ?? JSON_TYPE };
};

let platform: TestPlatform;
let other: { readonly accountId: string; readonly apiKey: string };
let viewer: string;
/** An existing execution: the permission to abort it depends on its project. */
let executionId: string;
const routes = (): readonly Route[] => platform.platform.http.routes();
const isStream = ({ doc }: Route): boolean => typeof doc !== "string" && doc.answer === "text/event-stream";
const isPrivate = (route: Route): route is PrivateRoute => "permission" in route.access;
const privateRoutes = (): readonly PrivateRoute[] => routes().filter(isPrivate);

before(async () => {
  platform = await startTestPlatform();
  other = await platform.addAccount();
  viewer = await platform.addUser("_account_viewer");
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  executionId = (await made(create.run(platform, "deploy"))).planExecution.uuid;
});
after(() => platform?.stop());

const pathOf = (route: Route, account: string | null = null): string =>
  route.path
    .replace(":accountId", () => (isInPath(route) ? (account ?? "x") : ":accountId"))
    .replaceAll(/:\w+/g, route.operation.startsWith("execution.abort") ? executionId : "x");

const isInPath = (route: Route): boolean => "account" in route && route.account === "path";

const accountParameter = (route: Route): string =>
  "account" in route && route.account !== "header" ? route.account : "accountIdentifier";

const ask = (route: Route, how: SendOptions, prefix = ""): Promise<Answer> => {
  const account = "account" in how ? how.account : platform.accountId;
  const asked = account === null || isInPath(route) ? "" : `&${accountParameter(route)}=${account}`;
  const path = `${prefix}${pathOf(route, account)}?${queryOf(route)}${asked}`;
  return platform.send(route.method, path, { ...how, account: null, ...bodyOf(route) });
};

test("every route names an existing permission, or the reason why it is public", () => {
  for (const { access, operation } of routes()) {
    if ("permission" in access) assert.match(access.permission, PERMISSION, operation);
    else assert.ok(("public" in access ? access.public : access.session).length > 10, operation);
  }
  const operations = routes().map(({ operation }) => operation);
  assert.deepEqual(operations, [...new Set(operations)]);
});

test("the list of public routes is complete", () => {
  assert.deepEqual(
    routes()
      .filter(({ access }) => "public" in access)
      .map(({ operation }) => operation),
    [
      "health.live",
      "health.ready",
      "single-sign-on.start",
      "single-sign-on.finish",
      "invitation.check",
      "invitation.accept",
      "session.create",
      "session.get",
      "webhook.receive",
      "webhook.execution-details",
      "webhook.processing-details",
    ],
  );
});

test("every private route answers 401 without a credential, with and without /gateway", async () => {
  assert.ok(privateRoutes().length > 10);
  for (const route of privateRoutes())
    for (const prefix of ["", "/gateway"]) {
      const { status, text, body } = await ask(route, { apiKey: null }, prefix);
      assert.equal(status, 401, `${route.operation}: ${text}`);
      if (route.errors === "scim") assert.equal(body.status, "401");
      else assert.equal(route.errors === "rest" ? body.code : body.responseMessages[0].code, "INVALID_TOKEN");
    }
});

test("every private route answers 403 for another account, and the same for an unknown account", async () => {
  for (const route of privateRoutes()) {
    const [existing, none] = [
      await ask(route, { account: other.accountId }, "/gateway"),
      await ask(route, { account: UNKNOWN_ACCOUNT }, "/gateway"),
    ];
    assert.equal(existing.status, 403, `${route.operation}: ${existing.text}`);
    assert.equal(none.status, 403, route.operation);
    assert.equal(withoutId(existing), withoutId(none), route.operation);
    const stranger = await ask(route, { apiKey: other.apiKey });
    assert.equal(stranger.status, 403, `${route.operation}: ${stranger.text}`);
  }
});

const withoutId = ({ text, body }: Answer): string => text.replaceAll(body.correlationId ?? "\0", "");

test("every private route answers 400 without an account and with two", async () => {
  for (const route of privateRoutes().filter((one) => !isInPath(one))) {
    assert.equal((await ask(route, { account: null })).status, 400, route.operation);
    const twice = `${route.account}=${platform.accountId}&${route.account}=${platform.accountId}`;
    const answer = await platform.send(route.method, `${pathOf(route)}?${queryOf(route)}&${twice}`, {
      account: null,
      ...bodyOf(route),
    });
    assert.equal(answer.status, 400, `${route.operation}: ${answer.text}`);
  }
});

test("every route without view permission refuses a viewer, and writes nothing", async () => {
  const rows = (): Promise<unknown[]> =>
    platform.db
      .query(`select (select count(*) from audit_entries) as audit, (select count(*) from projects) as projects,
      (select count(*) from connectors) as connectors, (select count(*) from delegate_tokens) as tokens`);
  const earlier = await rows();
  // An open stream does not end; the access matrix has its cells.
  for (const route of privateRoutes().filter((one) => !isStream(one))) {
    const { status, text, body } = await ask(route, { apiKey: viewer });
    const { permission } = route.access;
    if (permission.endsWith("_view")) assert.notEqual(status, 403, `${route.operation}: ${text}`);
    else {
      assert.equal(status, 403, `${route.operation}: ${text}`);
      const first =
        route.errors === "scim" ? { code: "NG_ACCESS_DENIED", message: body.detail } : body.responseMessages[0];
      assert.equal(first.code, "NG_ACCESS_DENIED", route.operation);
      // The message for an adoption names the document first.
      assert.ok(first.message.endsWith(`Missing permission ${permission}.`), `${route.operation}: ${first.message}`);
    }
  }
  assert.deepEqual(await rows(), earlier);
});

test("every query and mutation names a permission, and checks it first", async () => {
  const { schema } = platform.platform;
  const accountId = fromWire(platform.accountId) as Uuid;
  const actor: Actor = { kind: "delegate", accountId, id: accountId, name: "a guest" };
  for (const [kind, type, least] of [
    ["query", schema.getQueryType(), 5],
    ["mutation", schema.getMutationType(), 2],
  ] as const) {
    const fields = Object.values(type?.getFields() ?? {});
    assert.ok(fields.length >= least);
    for (const field of fields) {
      const permission = String(field.extensions["permission"]);
      assert.match(permission, PERMISSION, field.name);
      const result = await execute({
        schema,
        document: parse(`${kind} { ${callOf(field)} { __typename } }`),
        contextValue: { actor },
      });
      assert.equal(result.errors?.[0]?.message, `Missing permission ${permission}.`, field.name);
    }
  }
});

/** Returns the field with a value for each required argument. */
function callOf(field: GraphQLField<unknown, unknown>): string {
  const needed = field.args.filter(isRequiredArgument).map(({ name, type }) => `${name}: ${literalOf(type)}`);
  return needed.length === 0 ? field.name : `${field.name}(${needed.join(", ")})`;
}

/** Returns the smallest value of the type: an empty text or list, or an object of its required fields. */
function literalOf(type: GraphQLInputType): string {
  const named = getNullableType(type);
  if (isListType(named)) return "[]";
  if (isEnumType(named)) return named.getValues()[0]?.name ?? "";
  if (isInputObjectType(named)) {
    const needed = Object.values(named.getFields()).filter(isRequiredInputField);
    return `{ ${needed.map((field) => `${field.name}: ${literalOf(field.type)}`).join(", ")} }`;
  }
  return named.toString() === "Boolean" ? "false" : ["Int", "Long"].includes(named.toString()) ? "0" : '""';
}
