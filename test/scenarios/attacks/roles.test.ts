/** Attack class 2: a role has the same permissions over GraphQL and REST, and a delegate token has none of them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { World } from "../../contract/world.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { sendSample, callOf, digests, createExamples, samples } from "./requests.ts";

let platform: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
});
after(() => platform?.stop());

const missing = (permission: string): string => `Missing permission ${permission}.`;

test("a viewer gets every field for viewing and no other, and writes nothing", async () => {
  const viewer = await platform.addUser("_account_viewer");
  const earlier = await digests(platform);
  const { schema } = platform.platform;
  const counts = { given: 0, refused: 0 };
  for (const [kind, type] of [
    ["query", schema.getQueryType()],
    ["mutation", schema.getMutationType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {})) {
      const permission = String(field.extensions["permission"]);
      const { body, text } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
        apiKey: viewer,
        contentType: "application/json",
        body: JSON.stringify({ query: `${kind} { ${callOf(field, "x")} { __typename } }` }),
      });
      const refused = (body.errors ?? []).some((error: { message: string }) => error.message.includes("permission"));
      assert.equal(refused, !permission.endsWith("_view"), `${field.name} needs ${permission}: ${text}`);
      if (refused) assert.ok(text.includes(missing(permission)), text);
      counts[refused ? "refused" : "given"] += 1;
    }
  assert.ok(counts.given >= 10 && counts.refused >= 5, JSON.stringify(counts));
  assert.deepEqual(await digests(platform), earlier);
});

test("a rerun needs the permission to run, and an abort the permission to abort or to run", () => {
  const routes = platform.platform.http.routes();
  const needed = (pattern: RegExp): readonly string[] => {
    const found = routes.filter(({ operation }) => pattern.test(operation));
    assert.ok(found.length > 0, pattern.source);
    return [...new Set(found.map(({ access }) => ("permission" in access ? access.permission : "none")))];
  };
  assert.deepEqual(needed(/^execution\.(start|rerun)/), ["core_pipeline_execute"]);
  for (const permission of needed(/^execution\.abort/)) assert.match(permission, /_(abort|execute)$/);
});

test("a delegate token is refused by all user operations and by GraphQL", async () => {
  const token = await platform.delegateToken();
  const earlier = await digests(platform);
  for (const sample of samples(world).filter(({ operation }) => !operation.public)) {
    const answer = await sendSample(platform, sample, { apiKey: token });
    assert.equal(answer.status, 401, `${sample.operation.operationId}: ${answer.text}`);
  }
  assert.deepEqual(await digests(platform), earlier);
});
