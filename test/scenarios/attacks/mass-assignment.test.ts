/**
 * Attack class 19: fields that a caller may not set, in every object of every body and in every input type. They are
 * refused by name, or ignored and named in a header. They have no effect.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isInputObjectType } from "graphql";
import { fromWire } from "../../../src/core/ids.ts";
import type { World } from "../../contract/world.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import {
  sendSample,
  digests,
  createExamples,
  samples,
  createOtherAccount,
  withMember,
  type Sample,
} from "./requests.ts";

let platform: TestPlatform;
let other: TestPlatform;
let world: World;
before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
  other = await createOtherAccount(platform);
});
after(() => platform?.stop());

/** Fields that only the platform sets, by their names in columns and responses. */
const OURS = ["id", "accountId", "accountIdentifier", "createdAt", "version", "platformManaged", "role"] as const;

const valueOf = (field: string): unknown => {
  if (field.startsWith("account")) return other.accountId;
  return /At$|version/.test(field) ? 4_242_424_242 : "chosen_by_the_caller";
};

/** The audit filter and documents that clients send back as read may name the account, but only the caller's. */
const NAMES_ITS_ACCOUNT = /^(audit\.list|(service-account|api-key|token)\.(create|update))$/;

const isScim = ({ operation }: Sample): boolean => operation.operationId.startsWith("scim");

/** Yields each writing operation with each field in each object of its body. */
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

/** Matches the values of the attempts in responses and rows. */
const chosenValues = (): RegExp =>
  new RegExp([...OURS.map((field) => String(valueOf(field))), fromWire(other.accountId)].join("|"));

/** Yields the rows of the account from every table with an account. */
async function* rowsOf(account: string): AsyncGenerator<{ readonly table: string; readonly row: string }> {
  for (const table of Object.keys(await digests(platform, account))) {
    const rows = await platform.db.query<{ row: string }>(
      `select t::text as row from "${table}" t where account_id = $1`,
      [fromWire(account)],
    );
    for (const { row } of rows) yield { table, row };
  }
}

test("such a field in any object of any body is named in a refusal or in the header, and has no effect", async () => {
  const theirs = await digests(platform, other.accountId);
  const [refused, ignored] = [new Set<string>(), new Set<string>()];
  for (const { sample, field, what } of attempts((one) => !isScim(one))) {
    const { operationId } = sample.operation;
    const { status, text, headers } = await sendSample(platform, sample);
    if (NAMES_ITS_ACCOUNT.test(operationId) && field === "accountIdentifier" && status === 403) continue;
    const named = (headers.get("railhead-ignored-fields") ?? "").split(", ");
    if (named.some((path) => path.split(".").at(-1) === field)) {
      assert.ok(status < 500, `${what}: ${text}`);
      assert.doesNotMatch(text, chosenValues(), what);
      ignored.add(`${operationId} ${field}`);
    } else {
      assert.equal(status, 400, `${what}: ${text}`);
      // The values of a map of texts are named by their path.
      assert.ok(
        [`'${field}'`, `expressionValues.${field}: `].some((name) => text.includes(name)),
        `${what}: ${text}`,
      );
      refused.add(`${operationId} ${field}`);
    }
  }
  assert.ok(refused.size >= 8 * OURS.length, String(refused.size));
  assert.ok(ignored.size >= 15 * OURS.length, String(ignored.size));
  for await (const { table, row } of rowsOf(platform.accountId)) assert.doesNotMatch(row, chosenValues(), table);
  assert.deepEqual(await digests(platform, other.accountId), theirs);
});

test("documents that define executions are refused with such a field, and nothing is written", async () => {
  const earlier = await digests(platform);
  const asked = new Set<string>();
  const isStrict = ({ operation }: Sample): boolean =>
    /^(pipeline\.(create|update)|input-set\.(create|update)|overlay\.|trigger\.(create|update)|execution\.(run|rerun)$)/.test(
      operation.operationId,
    );
  for (const { sample, field, what } of attempts(isStrict)) {
    const { status, text, headers } = await sendSample(platform, sample);
    assert.equal(status, 400, `${what}: ${text}`);
    assert.ok(text.includes(`'${field}'`), `${what}: ${text}`);
    assert.equal(headers.get("railhead-ignored-fields"), null);
    asked.add(sample.operation.operationId);
  }
  assert.ok(asked.size >= 8, [...asked].join());
  assert.deepEqual(await digests(platform), earlier);
});

/** RFC 7644 section 3.3: a server ignores unknown attributes and read-only attributes. */
test("SCIM ignores such a field in every place: it is neither shown nor stored", async () => {
  const theirs = await digests(platform, other.accountId);
  const taken = new Map<string, number>();
  for (const { sample, what } of attempts(isScim)) {
    const { operationId } = sample.operation;
    const { status, text } = await sendSample(platform, sample);
    assert.ok(status === 200 || status === 201 || status === 409, `${what}: ${status} ${text}`);
    assert.doesNotMatch(text, chosenValues(), what);
    if (status !== 409) taken.set(operationId, (taken.get(operationId) ?? 0) + 1);
  }
  // Users and groups are created, found, replaced and patched at two addresses.
  assert.equal(taken.size, 16, [...taken.keys()].join());
  for await (const { table, row } of rowsOf(platform.accountId)) assert.doesNotMatch(row, chosenValues(), table);
  assert.deepEqual(await digests(platform, other.accountId), theirs);
});

/** Ids of existing resources, as clients of this API family send them. They choose nothing. */
const NAMES_WHAT_IS_MEANT = new Set([
  "UpdateUserInput.id",
  "DeleteUserInput.id",
  "AddUserToUserGroupInput.userId",
  "RemoveUserFromUserGroupInput.userId",
  "DeleteDelegateInput.accountId",
  "DelegateApproveRejectInput.accountId",
]);

test("no input of a mutation has a field that only the platform sets", () => {
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
