/** Clients of this API family repeat the scope of the query in the bodies of lists and filters. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../support/platform.ts";
import { sendSample, createExamples, samples, createOtherAccount, type Sample } from "../scenarios/attacks/requests.ts";

let platform: TestPlatform;
let other: TestPlatform;
let lists: readonly Sample[];
before(async () => {
  platform = await startTestPlatform();
  lists = samples(await createExamples(platform)).filter(isList);
  other = await createOtherAccount(platform);
});
after(() => platform?.stop());

/** Operations with a body that filters or selects: POST operations that read. */
const OPERATIONS =
  /list|filter|summary|aggregate|batch|template|merge|outline|delegate-groups|\.find|audit|permissions|acl|holders/;
function isList({ operation, body, type }: Sample): boolean {
  if (operation.public || operation.session || operation.method !== "POST" || type !== "application/json") return false;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false;
  return (
    OPERATIONS.test(`${operation.operationId} ${operation.path}`) && !/^(scim|graphql)/.test(operation.operationId)
  );
}

test("each list and filter accepts the scope of its query in its body", async () => {
  assert.ok(lists.length >= 12, lists.map(({ operation }) => operation.operationId).join());
  for (const sample of lists) {
    const { orgIdentifier, projectIdentifier } = sample.query;
    const scope = { accountIdentifier: platform.accountId, orgIdentifier, projectIdentifier };
    const body = { ...(sample.body as object), ...scope };
    const answer = await sendSample(platform, { ...sample, body });
    assert.equal(answer.status, 200, `${sample.operation.operationId}: ${answer.text}`);
    assert.equal(answer.headers.get("railhead-ignored-fields"), null, sample.operation.operationId);
  }
});

test("each refuses another scope in its body by the name of the key", async () => {
  for (const sample of lists)
    for (const [key, value] of [
      ["orgIdentifier", "elsewhere"],
      ["projectIdentifier", "elsewhere"],
      ["accountIdentifier", other.accountId],
    ] as const) {
      const query = { ...sample.query, orgIdentifier: "default", projectIdentifier: "shop" };
      const answer = await sendSample(platform, {
        ...sample,
        query,
        body: { ...(sample.body as object), [key]: value },
      });
      const what = `${sample.operation.operationId} ${key}: ${answer.text}`;
      assert.equal(answer.status, 400, what);
      assert.ok(answer.text.includes(key), what);
    }
});
