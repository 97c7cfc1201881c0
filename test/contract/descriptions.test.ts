/** Checks statements in the descriptions of api/openapi.json against a running server. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sendSample, createExamples, samples, type Sample } from "../scenarios/attacks/requests.ts";
import type { World } from "./world.ts";

let platform: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
});
after(() => platform?.stop());

const SAYS = /The answer is 404 if (.+?) names nothing that the caller may see\./;

/** Returns the sample with an absent name in its path, and in a body or document that repeats the name. */
function withAbsent({ params, body, ...sample }: Sample, name: string): Sample {
  const absent = `absent_${name}`;
  const given = new RegExp(String.raw`\b${RegExp.escape(params[name] ?? "")}\b`, "g");
  const changed = body === undefined ? undefined : JSON.stringify(body).replaceAll(given, absent);
  return { ...sample, params: { ...params, [name]: absent }, body: changed };
}

test("an operation that documents it answers 404 for each absent name in its path", async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const sample of samples(world)) {
    // With a form the test would send no parts.
    if (sample.type === "multipart/form-data") continue;
    const statement = SAYS.exec(sample.operation.description ?? "")?.[1] ?? "";
    for (const [, name = ""] of statement.matchAll(/`(\w+)`/g)) {
      const { status, text } = await sendSample(platform, withAbsent(sample, name));
      asked += 1;
      if (status !== 404) wrong.push(`${sample.operation.operationId} ${name}: ${status} ${text.slice(0, 200)}`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(asked > 100, String(asked));
});

test("an operation that documents it ignores an unknown field and names it in the header", async () => {
  const wrong: string[] = [];
  let asked = 0;
  for (const sample of samples(world)) {
    const { operation, body } = sample;
    if (!operation.description?.includes("Unknown fields of the body are ignored")) continue;
    // Lists contain objects with fields, which test/scenarios/attacks/mass-assignment.test.ts covers.
    if (typeof body !== "object" || body === null || Array.isArray(body)) continue;
    const { headers, text, status } = await sendSample(platform, { ...sample, body: { ...body, _: null } });
    asked += 1;
    if (headers.get("railhead-ignored-fields") !== "_")
      wrong.push(`${operation.operationId}: ${status} ${text.slice(0, 200)}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(asked > 30, String(asked));
});

test("each operation documents its permission, or why it needs none", () => {
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
