/**
 * Attack class 3: ids of another account get the same responses as unknown ids, from every operation and every field,
 * and change nothing. Both accounts have resources with the same identifiers, so that only the ids differ.
 */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { fromWire, toWire, type Uuid } from "../../../src/core/ids.ts";
import type { World } from "../../contract/world.ts";
import { isStream } from "../../contract/operations.ts";
import { connectorYaml, create, made, createTargets, pipelineYaml, projectYaml } from "../../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { sendSample, callOf, digests, createExamples, samples, createOtherAccount, type Sample } from "./requests.ts";

let victim: TestPlatform;
let attacker: TestPlatform;
let world: World;
/** Ids of the victim's rows in their API form, by table. */
let ids: Readonly<Record<string, readonly string[]>>;

before(async () => {
  victim = await startTestPlatform();
  world = await createExamples(victim);
  attacker = await createOtherAccount(victim);
  await made(create.project(attacker, projectYaml()));
  await createTargets(attacker);
  await made(create.connector(attacker, connectorYaml()));
  await made(create.pipeline(attacker, pipelineYaml()));
  ids = await idsOf(victim);
});
after(() => victim?.stop());

async function idsOf({ db, accountId }: TestPlatform): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await db.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name in ('id', 'account_id')
     and table_name in (select table_name from information_schema.columns where column_name = 'id' and data_type = 'uuid')
     group by 1 having count(*) = 2 order by 1`,
  );
  const found: [string, string[]][] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ id: Uuid }>(`select id from "${name}" where account_id = $1 and id <> account_id`, [
      fromWire(accountId),
    ]);
    found.push([name, rows.map(({ id }) => toWire(id))]);
  }
  return Object.fromEntries(found);
}

const allIds = (): readonly string[] => [...new Set(Object.values(ids).flat())];
const madeUp = (): string => toWire(randomUUIDv7() as Uuid);

/** Returns a response without the requested ids. */
const statusAndText = ({ status, text, body }: Answer, asked: readonly string[]): string =>
  [...asked, body?.correlationId ?? "\0"].reduce((rest, id) => rest.replaceAll(id, "?"), `${status} ${text}`);

function assertNothingOfTheirs(text: string, what: string): void {
  const shown = allIds().filter((id) => text.includes(id));
  assert.deepEqual(shown, [], `${what} shows ids of another account: ${text.slice(0, 300)}`);
}

/** Returns the same request with other values in place of the victim's. */
function withIds(sample: Sample, other: ReadonlyMap<string, string>): Sample {
  const swapped = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, other.get(value) ?? value]));
  return { ...sample, params: swapped(sample.params), query: swapped(sample.query) };
}

/** Adds a foreign id to optional parameters without an example: `lastSeenExecutionId`, `nodeExecutionId`. */
function withOptionalIds(sample: Sample): Sample {
  const free = sample.operation.parameters.filter(
    ({ name, in: place }) => place === "query" && name.endsWith("ExecutionId") && !Object.hasOwn(sample.query, name),
  );
  const id = world["planExecutionId"] ?? "";
  return { ...sample, query: { ...sample.query, ...Object.fromEntries(free.map(({ name }) => [name, id])) } };
}

test("every operation answers another account's ids like unknown ids, and changes nothing there", async () => {
  const earlier = await digests(victim, victim.accountId);
  const foreign = new Set(allIds());
  let compared = 0;
  for (const plain of samples(world).filter(
    ({ operation, type }) => !operation.public && !operation.session && type !== "multipart/form-data",
  ))
    for (const sample of [plain, withOptionalIds(plain)]) {
      const what = sample.operation.operationId;
      const used = [...Object.values(sample.params), ...Object.values(sample.query)].filter((id) => foreign.has(id));
      // It would be the attacker's own, and open.
      if (used.length === 0 && isStream(sample.operation)) continue;
      const real = await sendSample(attacker, sample);
      assert.ok(real.status < 500, `${what}: ${real.text}`);
      if (used.length === 0) {
        assertNothingOfTheirs(real.text, what);
        continue;
      }
      compared += 1;
      const other = new Map(used.map((id) => [id, madeUp()]));
      const none = await sendSample(attacker, withIds(sample, other));
      assert.equal(statusAndText(real, used), statusAndText(none, [...other.values()]), what);
      assertNothingOfTheirs(statusAndText(real, used), what);
    }
  assert.ok(compared >= 15, `only ${compared} operations were asked for foreign ids`);
  assert.deepEqual(await digests(victim, victim.accountId), earlier);
});

test("every field of the schema answers another account's ids like unknown ids, and changes nothing there", async () => {
  const earlier = await digests(victim, victim.accountId);
  const { schema } = victim.platform;
  const kinds = Object.entries(ids).flatMap(([table, [id]]) => (id === undefined ? [] : [[table, id] as const]));
  assert.ok(kinds.length >= 8, kinds.map(([table]) => table).join());
  let compared = 0;
  for (const [kind, type] of [
    ["query", schema.getQueryType()],
    ["mutation", schema.getMutationType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {}).filter(({ args }) => args.length > 0))
      for (const [table, id] of kinds) {
        const other = madeUp();
        const real = await attacker.graphql(`${kind} { ${callOf(field, id)} { __typename } }`);
        const none = await attacker.graphql(`${kind} { ${callOf(field, other)} { __typename } }`);
        assert.equal(statusAndText(real, [id]), statusAndText(none, [other]), `${field.name} with an id of ${table}`);
        assertNothingOfTheirs(statusAndText(real, [id]), field.name);
        compared += 1;
      }
  assert.ok(compared >= 150, String(compared));
  assert.deepEqual(await digests(victim, victim.accountId), earlier);
});

test("a key of one account gives no access to another account named in the query", async () => {
  const earlier = await digests(victim, victim.accountId);
  for (const sample of samples(world).filter(
    ({ operation, type }) => !operation.public && !operation.session && type !== "multipart/form-data",
  )) {
    const answer = await sendSample({ send: attacker.send, accountId: victim.accountId }, sample);
    assert.equal(answer.status, 403, `${sample.operation.operationId}: ${answer.text}`);
    assertNothingOfTheirs(answer.text, sample.operation.operationId);
  }
  assert.deepEqual(await digests(victim, victim.accountId), earlier);
});
