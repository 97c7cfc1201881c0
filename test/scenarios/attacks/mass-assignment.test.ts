/**
 * Attack class 19: fields that are not the caller's to set, beside those that are, in every object of every body and in
 * every input type. They are refused by name, or ignored and named in a header; none of them has an effect.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isInputObjectType } from "graphql";
import { fromWire } from "../../../src/core/ids.ts";
import type { World } from "../../contract/world.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { ask, digests, furnished, samples, stranger, withMember, type Sample } from "./requests.ts";

let platform: TestPlatform;
let other: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await furnished(platform);
  other = await stranger(platform);
});
after(() => platform?.stop());

/** What the platform alone decides, as its own columns and answers call it. */
const OURS = ["id", "accountId", "accountIdentifier", "createdAt", "version", "platformManaged", "role"] as const;

const valueOf = (field: string): unknown => {
  if (field.startsWith("account")) return other.accountId;
  return /At$|version/.test(field) ? 4_242_424_242 : "chosen_by_the_caller";
};

/** The filter of the trail, and what clients send back as they have read it, may name the account: the caller's own alone. */
const NAMES_ITS_ACCOUNT = /^(audit\.list|(service-account|api-key|token)\.(create|update))$/;

const isScim = ({ operation }: Sample): boolean => operation.operationId.startsWith("scim");

/** Each writing operation, with each of the fields in each object of its body. */
function* attempts(isMeant: (sample: Sample) => boolean) {
  for (const sample of samples(world)) {
    const { operation, type, body } = sample;
    if (type !== "application/json" || operation.public || operation.operationId.startsWith("graphql")) continue;
    if (!isMeant(sample)) continue;
    for (const field of OURS)
      for (const spoilt of withMember(body, `${JSON.stringify(field)}:${JSON.stringify(valueOf(field))}`))
        yield { sample: { ...sample, body: spoilt }, field, what: `${operation.operationId} ${spoilt}` };
  }
}

/** What an attempt chose, as answers and rows would show it. */
const chosenValues = (): RegExp =>
  new RegExp([...OURS.map((field) => String(valueOf(field))), fromWire(other.accountId)].join("|"));

/** The rows of the account, of every table that has such. */
async function* rowsOf(account: string): AsyncGenerator<{ readonly table: string; readonly row: string }> {
  for (const table of Object.keys(await digests(platform, account))) {
    const rows = await platform.db.query<{ row: string }>(
      `select t::text as row from "${table}" t where account_id = $1`,
      [fromWire(account)],
    );
    for (const { row } of rows) yield { table, row };
  }
}

test("in every object of every body such a field is named, in a refusal or in the header, and has no effect", async () => {
  const theirs = await digests(platform, other.accountId);
  const [refused, ignored] = [new Set<string>(), new Set<string>()];
  for (const { sample, field, what } of attempts((one) => !isScim(one))) {
    const { operationId } = sample.operation;
    const { status, text, headers } = await ask(platform, sample);
    if (NAMES_ITS_ACCOUNT.test(operationId) && field === "accountIdentifier" && status === 403) continue;
    const named = (headers.get("railhead-ignored-fields") ?? "").split(", ");
    if (named.some((path) => path.split(".").at(-1) === field)) {
      assert.ok(status < 500, `${what}: ${text}`);
      assert.doesNotMatch(text, chosenValues(), what);
      ignored.add(`${operationId} ${field}`);
    } else {
      assert.equal(status, 400, `${what}: ${text}`);
      assert.ok(text.includes(`'${field}'`), `${what}: ${text}`);
      refused.add(`${operationId} ${field}`);
    }
  }
  assert.ok(refused.size >= 8 * OURS.length, String(refused.size));
  assert.ok(ignored.size >= 15 * OURS.length, String(ignored.size));
  for await (const { table, row } of rowsOf(platform.accountId)) assert.doesNotMatch(row, chosenValues(), table);
  assert.deepEqual(await digests(platform, other.accountId), theirs);
});

test("documents that define what is run are refused with such a field, and nothing is written", async () => {
  const earlier = await digests(platform);
  const asked = new Set<string>();
  const isStrict = ({ operation }: Sample): boolean =>
    /^(pipeline\.(create|update)|input-set\.(create|update)|overlay\.|trigger\.(create|update)|execution\.(run|rerun)$)/.test(
      operation.operationId,
    );
  for (const { sample, field, what } of attempts(isStrict)) {
    const { status, text, headers } = await ask(platform, sample);
    assert.equal(status, 400, `${what}: ${text}`);
    assert.ok(text.includes(`'${field}'`), `${what}: ${text}`);
    assert.equal(headers.get("railhead-ignored-fields"), null);
    asked.add(sample.operation.operationId);
  }
  assert.ok(asked.size >= 8, [...asked].join());
  assert.deepEqual(await digests(platform), earlier);
});

/** RFC 7644 section 3.3: what a schema does not know, and what only the server writes, is ignored. */
test("SCIM ignores such a field wherever it stands: nothing of it is shown or kept, here or elsewhere", async () => {
  const theirs = await digests(platform, other.accountId);
  const taken = new Map<string, number>();
  for (const { sample, what } of attempts(isScim)) {
    const { operationId } = sample.operation;
    const { status, text } = await ask(platform, sample);
    assert.ok(status === 200 || status === 201 || status === 409, `${what}: ${status} ${text}`);
    assert.doesNotMatch(text, chosenValues(), what);
    if (status !== 409) taken.set(operationId, (taken.get(operationId) ?? 0) + 1);
  }
  // Each of two addresses: people and groups are made, found, replaced and patched.
  assert.equal(taken.size, 16, [...taken.keys()].join());
  for await (const { table, row } of rowsOf(platform.accountId)) assert.doesNotMatch(row, chosenValues(), table);
  assert.deepEqual(await digests(platform, other.accountId), theirs);
});

/** Ids of what there is already, as clients of this API family send them: they choose nothing. */
const NAMES_WHAT_IS_MEANT = new Set([
  "UpdateUserInput.id",
  "DeleteUserInput.id",
  "AddUserToUserGroupInput.userId",
  "RemoveUserFromUserGroupInput.userId",
  "DeleteDelegateInput.accountId",
  "DelegateApproveRejectInput.accountId",
]);

test("no input of a mutation has a field for what the platform decides", () => {
  const decided = /^(id|uuid|account\w*|\w+(At|By)|version|platformManaged|roles?|permissions?|userId)$/i;
  const fields = Object.values(platform.platform.schema.getTypeMap())
    .filter((type) => isInputObjectType(type))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
    .filter((field) => !/Filter(Input)?\./.test(field) && !NAMES_WHAT_IS_MEANT.has(field));
  assert.ok(fields.length > 40, String(fields.length));
  assert.deepEqual(
    fields.filter((field) => decided.test(field.split(".")[1] ?? "")),
    [],
  );
});
