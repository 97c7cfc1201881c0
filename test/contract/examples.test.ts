/**
 * Calls every operation of api/openapi.json with its examples, as JSON and as YAML. Each response must fit the schema
 * in the document. New operations are covered automatically.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stringify } from "yaml";
import { CLIENT, startFakeProvider } from "../support/services/fake-provider.ts";
import { createSession } from "../support/sessions.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { watchAuditTrail } from "./audited.ts";
import { isStream, operationsOf, readDocument, type Operation } from "./operations.ts";
import { answerChecker } from "./shapes.ts";
import { createWorld, type World } from "./world.ts";

const document = readDocument();
const operations = operationsOf(document);
const check = answerChecker(document);

/**
 * Orders the operations: first those that create, then those that read and change, last those that delete, higher
 * slices first.
 */
function inOrder(): readonly Operation[] {
  const [deletes, others] = [operations.filter(isDelete), operations.filter((one) => !isDelete(one))];
  return [...others.toSorted((a, b) => rank(a) - rank(b)), ...deletes.toReversed()];
}
const isDelete = ({ method }: Operation): boolean => method === "DELETE";
const rank = ({ method, operationId }: Operation): number =>
  operationId.endsWith(".create") ? 0 : ["POST", "GET", "PUT"].indexOf(method) + 1;

for (const format of ["json", "yaml"] as const)
  test(`each operation answers its example (${format}) with 200 in the documented shape`, async () => {
    const provider = await startFakeProvider();
    const oidc = { ...CLIENT, issuer: provider.issuer, scopes: "openid", name: "Example", linkByEmail: false };
    const platform = await startTestPlatform({ oidc });
    try {
      const world = await createWorld(platform);
      const trail = await watchAuditTrail(platform);
      for (const operation of inOrder().filter(isPlain)) {
        const answer = await call(platform, world, operation, format);
        assert.equal(answer.status, operation.success, `${operation.operationId} (${format}): ${answer.text}`);
        check(operation, answer);
        await trail.note(operation);
        const versioned = operation.responses[operation.success]?.headers?.["ETag"] !== undefined;
        assert.equal(
          answer.headers.has("etag"),
          versioned,
          `${operation.operationId}: its doc must say etag: true if its response has a version`,
        );
      }
      trail.settle();
    } finally {
      await platform.stop();
      await provider.stop();
    }
  });

test("each operation accepts If-Match exactly if the document says so", async () => {
  const platform = await startTestPlatform();
  try {
    const world = await createWorld(platform);
    for (const operation of inOrder().filter((one) => one.method !== "GET" && !one.public && isPlain(one))) {
      const answer = await call(platform, world, operation, "json", { headers: { "if-match": "no version" } });
      const refused = answer.status === 400 && answer.text.includes("If-Match takes the version");
      const taken = refused || answer.status === 412;
      const says = `${operation.operationId}: does its doc say ifMatch: true where it is taken? ${answer.text}`;
      assert.equal(taken, operation.headers.includes("If-Match"), says);
    }
  } finally {
    await platform.stop();
  }
});

test("each operation refuses unauthenticated and incomplete requests in the documented shape", async () => {
  const platform = await startTestPlatform();
  try {
    const world = await createWorld(platform);
    for (const operation of operations.filter((one) => !one.public && !one.session && isPlain(one))) {
      const stranger = await call(platform, world, operation, "json", { apiKey: "pat.x.y.z" });
      assert.equal(stranger.status, 401, operation.operationId);
      check(operation, stranger);
      const nowhere = await call(platform, world, operation, "json", { account: null });
      // The account in the path is required. This account does not exist.
      const inPath = operation.parameters.some((one) => one.in === "path" && one.name === "accountId");
      assert.equal(nowhere.status, inPath ? 403 : 400, operation.operationId);
      check(operation, nowhere);
    }
  } finally {
    await platform.stop();
  }
});

test("too many requests are refused in the documented shape, in each family", async () => {
  const platform = await startTestPlatform();
  try {
    const identifier = "requests_per_minute_token";
    const entry = { identifier, value: "1", allowOverrides: false, updateType: "UPDATE" };
    const body = JSON.stringify([entry]);
    const set = await platform.send("PUT", "/ng/api/settings", { body, contentType: "application/json" });
    assert.equal(set.status, 200, set.text);
    platform.clock.advance(120_000);
    const asked = operations.filter(({ operationId }) =>
      /^(connector\.catalogue|delegate-tags\.get|scim-user\.list)$/.test(operationId),
    );
    assert.equal(asked.length, 3);
    for (const operation of asked) {
      await call(platform, { delegateId: "x" }, operation, "json");
      const refused = await call(platform, { delegateId: "x" }, operation, "json");
      assert.equal(refused.status, 429, refused.text);
      check(operation, refused);
    }
  } finally {
    await platform.stop();
  }
});

test("a response outside of the document is found", () => {
  const operation = operations.find(({ operationId }) => operationId === "health.live");
  assert.ok(operation);
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  const answer = (status: number, body: unknown): Answer => ({ status, headers, text: JSON.stringify(body), body });
  check(operation, answer(200, { status: "UP" }));
  assert.throws(() => check(operation, answer(200, { status: "UP", more: 1 })), /additional properties/);
  assert.throws(() => check(operation, answer(200, {})), /required property/);
  assert.throws(() => check(operation, answer(418, {})), /undocumented status/);
});

type How = {
  readonly apiKey?: string | null;
  readonly account?: null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Event streams and GraphQL forms have separate tests. */
const isPlain = (operation: Operation): boolean => !isStream(operation);

async function call(
  platform: TestPlatform,
  world: World,
  operation: Operation,
  format: "json" | "yaml",
  asked: How = {},
): Promise<Answer> {
  const session = operation.session ? await createSession(platform) : undefined;
  const how = { redirect: "manual", ...asked, ...(session ? { apiKey: null, headers: session.headers } : {}) } as const;
  const types = Object.keys(operation.bodies);
  const type = types.find((one) => one.endsWith(format)) ?? types[0];
  const path = addressOf(operation, {
    ...world,
    ...(session && { sessionId: session.id }),
    ...(how.account === null ? {} : { accountId: platform.accountId, accountID: platform.accountId }),
  });
  if (type === undefined) return platform.send(operation.method, path, how);
  const example = operation.bodies[type]?.example;
  if (type === "multipart/form-data") return platform.send(operation.method, path, { ...how, body: formOf(example) });
  const body = written(example, type);
  return platform.send(operation.method, path, { ...how, body, contentType: type });
}

function formOf(example: unknown): FormData {
  const { spec, file } = example as { readonly spec: unknown; readonly file: string };
  const form = new FormData();
  form.append("spec", JSON.stringify(spec));
  form.append("file", new Blob([file]), "file");
  return form;
}

function written(example: unknown, type: string): string {
  if (typeof example === "string") return example;
  return type.endsWith("yaml") ? stringify(example) : JSON.stringify(example);
}

function addressOf(operation: Operation, world: World): string {
  let path = operation.path;
  const query = new URLSearchParams();
  for (const { name, required, example, ...parameter } of operation.parameters) {
    const value = world[`${operation.operationId} ${name}`] ?? example ?? world[name];
    if (value === undefined) {
      assert.ok(!required || name.startsWith("account"), `${operation.operationId}: no example for ${name}`);
    } else if (parameter.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  return `/gateway${path}?${query.toString()}`;
}
