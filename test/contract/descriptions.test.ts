/** What api/openapi.json says in words of each operation, asked of a running server. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { ask, furnished, samples, type Sample } from "../scenarios/attacks/requests.ts";
import type { World } from "./world.ts";

let platform: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await furnished(platform);
});
after(() => platform?.stop());

const SAYS = /The answer is 404 if (.+?) names nothing that the caller may see\./;

/** The sample with an absent name in its path, and in its body where that says the same, in a document too. */
function withAbsent({ params, body, ...sample }: Sample, name: string): Sample {
  const absent = `absent_${name}`;
  const given = new RegExp(String.raw`\b${RegExp.escape(params[name] ?? "")}\b`, "g");
  const changed = body === undefined ? undefined : JSON.stringify(body).replaceAll(given, absent);
  return { ...sample, params: { ...params, [name]: absent }, body: changed };
}

test("an operation that says so answers 404 to each name of its path that there is not", async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const sample of samples(world)) {
    // Of a form the test would send no parts.
    if (sample.type === "multipart/form-data") continue;
    const said = SAYS.exec(sample.operation.description ?? "")?.[1] ?? "";
    for (const [, name = ""] of said.matchAll(/`(\w+)`/g)) {
      const { status, text } = await ask(platform, withAbsent(sample, name));
      asked += 1;
      if (status !== 404) wrong.push(`${sample.operation.operationId} ${name}: ${status} ${text.slice(0, 200)}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(asked > 100, String(asked));
});

test("an operation that says so ignores an unknown field, and names it in the header", async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const sample of samples(world)) {
    const { operation, body } = sample;
    if (!operation.description?.includes("Unknown fields of the body are ignored")) continue;
    // Lists hold what has fields: test/scenarios/attacks/mass-assignment.test.ts asks for those.
    if (typeof body !== "object" || body === null || Array.isArray(body)) continue;
    const { headers, text, status } = await ask(platform, { ...sample, body: { ...body, _: null } });
    asked += 1;
    if (headers.get("railhead-ignored-fields") !== "_")
      wrong.push(`${operation.operationId}: ${status} ${text.slice(0, 200)}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(asked > 30, String(asked));
});

test("each operation says which permission it needs, or why it needs none", () => {
  for (const { operation } of samples(world)) {
    const { operationId, description = "" } = operation;
    if (operationId.startsWith("graphql")) continue;
    const expected = operation.public
      ? /Needs no credential: /
      : operation.session
        ? /Needs a session/
        : /Needs the permission `core_\w+`/;
    assert.match(description, expected, operationId);
  }
});
