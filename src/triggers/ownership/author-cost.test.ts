/**
 * What a call of a webhook costs the database, however often a secret is named and however many have written what it
 * runs.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  overlayYaml,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import type { Db, Query, QueryTuples } from "../../platform/db/db.ts";

let platform: TestPlatform;
const asked: string[] = [];
const counting =
  (query: Query): Query =>
  (text, values) => {
    asked.push(text);
    return query(text, values);
  };
const countingTuples =
  (tuples: QueryTuples): QueryTuples =>
  (text, values) => {
    asked.push(text);
    return tuples(text, values);
  };
const wrapDb = (db: Db): Db => ({
  ...db,
  query: counting(db.query),
  tuples: countingTuples(db.tuples),
  transaction: (work) => db.transaction((tx) => work({ ...tx, query: counting(tx.query) })),
});

before(async () => {
  platform = await startTestPlatform({ wrapDb });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const secret = { type: "SecretText", name: "key", identifier: "key", spec };
  await made(platform.send("POST", "/ng/api/v2/secrets", { contentType: JSON_TYPE, body: JSON.stringify({ secret }) }));
});
after(() => platform?.stop());

const given = "    variables:\n      - { name: x, type: String, value: a }\n";
/** The address of a trigger whose pipeline names the secret `uses` times, over `overlays` of two input sets each. */
async function hook(pipeline: string, uses: number, overlays: number): Promise<string> {
  const variables = "  variables: [{ name: x, type: String, value: <+input> }]\n";
  const text = '<+secrets.getValue("account.key")>'.repeat(uses);
  await made(create.pipeline(platform, pipelineYaml(pipeline, text, variables)));
  const names: string[] = [];
  for (let nth = 0; nth < overlays; nth += 1) {
    const sets = [`a_${nth}`, `b_${nth}`];
    for (const set of sets) await made(create.inputSet(platform, pipeline, inputSetYaml(pipeline, set, given)));
    await made(create.overlay(platform, pipeline, overlayYaml(`o_${nth}`, sets.join(", "))));
    names.push(`o_${nth}`);
  }
  const more = `  inputSetRefs: [${names.join(", ")}]\n`;
  return (await made(create.trigger(platform, pipeline, triggerYaml(pipeline, "hook", more)))).webhookUrl;
}

/** The statements of one call, until its run has begun. */
async function statements(webhookUrl: string): Promise<readonly string[]> {
  const { pathname, search } = new URL(webhookUrl);
  asked.length = 0;
  const called = await made(
    platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null }),
  );
  await eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string }>(
      "select status, message from webhook_deliveries where correlation_id = $1",
      [called.eventCorrelationId],
    );
    if (row?.status) assert.equal(row.status, "TARGET_EXECUTION_REQUESTED", row.message);
    return row?.status ?? undefined;
  });
  return [...asked];
}

test("many uses of one secret, and many texts of one author, are asked about as one of each", async () => {
  const [one, many] = [await hook("one", 1, 1), await hook("many", 100, 6)];
  // The first call of all finds nothing kept of the account.
  await statements(one);
  const [least, most] = [await statements(one), await statements(many)];
  const lookups = (all: readonly string[]): number =>
    all.filter((text) => /\b(secrets|connectors|environments|services) (secret|thing|e)\b/.test(text)).length;
  // Services, environments and secrets are named; secrets are looked up for their types and for their ids.
  assert.deepEqual([lookups(least), lookups(most)], [4, 4]);
  const standings = (all: readonly string[]): number =>
    all.filter((text) => /from service_accounts s where/.test(text)).length;
  // At the preparation of the run, and in the transaction of its start.
  assert.deepEqual([standings(least), standings(most)], [2, 2], "one statement for all principals");
  assert.equal(most.length, least.length, most.join("\n"));
});
