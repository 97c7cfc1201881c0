/**
 * Attack classes 18 and 22: texts with a meaning for a database, a pattern or an object, in every text parameter.
 * They are data: nothing fails or runs, no other rows are found, and no prototype changes.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { World } from "../../contract/world.ts";
import { isStream } from "../../contract/operations.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { sendSample, callOf, createExamples, samples, withMember, type Sample } from "./requests.ts";

/** In a statement that contains them as text, some cause an error (500), others a larger result. */
const SQL = [
  "'",
  "' or '1'='1",
  "\\' or 1=1 --",
  "1; drop table projects",
  "name desc; drop table projects --",
  "(case when (select 1/0) = 1 then 1 end)",
  "$1",
  "%",
  "\\",
  "%\\",
  "a\u0000b",
  "$.a ? (@ > 1)",
];
/** Numbers for code that calculates with them. */
const NUMBERS = ["1e308", "1e400", "-1", "9007199254740993", "99999999999999999999", "NaN", ""];
/** Names of members of every object, for code that looks up names in objects. */
const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty"];
const HOSTILE = [...SQL, ...NUMBERS, ...NAMES];

let platform: TestPlatform;
let world: World;
let ownKeys: string;
const keysOfPrototypes = (): string =>
  [Object, Array, Function, String, Map, Promise].map(({ prototype }) => Reflect.ownKeys(prototype).length).join();

before(async () => {
  platform = await startTestPlatform();
  world = await createExamples(platform);
  ownKeys = keysOfPrototypes();
});
after(() => platform?.stop());

const isPlain = ({ operation, type }: Sample): boolean => type !== "multipart/form-data" && !isStream(operation);
/** Reads and lists. Other operations have effects of their own. */
const readers = (): readonly Sample[] =>
  samples(world).filter(
    (sample) =>
      isPlain(sample) &&
      (sample.operation.method === "GET" || /list|outline|filter|validate/.test(sample.operation.operationId)),
  );

const names = async (): Promise<readonly unknown[]> =>
  platform.db.query(
    "select (select count(*) from projects) as projects, (select count(*) from connectors) as connectors, (select count(*) from pipelines) as pipelines",
  );

function assertAnswered(answer: Answer, what: string): void {
  assert.ok(answer.status < 500 && answer.status !== 429, `${what}: ${answer.status} ${answer.text}`);
  assert.doesNotMatch(answer.text, /syntax error at|invalid input syntax|division by zero|relation "/, what);
}

test("in every parameter of the path and of the query: refused or not found, never a failure", async () => {
  const earlier = await names();
  let asked = 0;
  for (const sample of readers())
    for (const { name, in: place } of sample.operation.parameters.filter(({ name }) => !name.startsWith("account")))
      for (const value of HOSTILE) {
        const spoilt =
          place === "path"
            ? { ...sample, params: { ...sample.params, [name]: value === "" ? "%" : value } }
            : { ...sample, query: { ...sample.query, [name]: value } };
        assertAnswered(await sendSample(platform, spoilt), `${sample.operation.operationId} ${name}=${value}`);
        asked += 1;
      }
  assert.ok(asked > 1_000, String(asked));
  assert.deepEqual(await names(), earlier);
  assert.equal(keysOfPrototypes(), ownKeys);
});

test("a search finds a text, never a pattern or a condition", async () => {
  let searched = 0;
  for (const sample of readers().filter(({ operation }) =>
    operation.parameters.some(({ name }) => name === "searchTerm"),
  )) {
    const all = await sendSample(platform, sample);
    assert.equal(all.status, 200, all.text);
    for (const searchTerm of SQL.filter((text) => !text.includes("\u0000"))) {
      const { body, text } = await sendSample(platform, { ...sample, query: { ...sample.query, searchTerm } });
      const content = body.data.content ?? body.data.principals ?? body.data;
      const found = Array.isArray(content) ? content : content.content;
      assert.deepEqual(found, [], `${sample.operation.operationId} searchTerm=${searchTerm}: ${text.slice(0, 200)}`);
      searched += 1;
    }
  }
  assert.ok(searched >= 5 * (SQL.length - 1), String(searched));
});

/** Yields the body once for each text in it, with that text replaced. */
function* spoilt(body: unknown, value: unknown): Generator {
  if (typeof body === "string" || typeof body === "number") yield value;
  if (typeof body !== "object" || body === null) return;
  for (const [key, member] of Object.entries(body))
    for (const other of spoilt(member, value))
      yield Array.isArray(body) ? body.with(Number(key), other) : { ...body, [key]: other };
}

test("in every text of every body: refused or stored as data, never a failure", async () => {
  const texts = [
    "' or '1'='1",
    "1; drop table projects",
    "__proto__",
    "constructor",
    "toString",
    "a\u0000b",
    "x".repeat(200_000),
  ];
  let asked = 0;
  for (const sample of samples(world).filter((one) => isPlain(one) && one.type === "application/json"))
    for (const text of texts)
      for (const body of spoilt(sample.body, text)) {
        assertAnswered(
          await sendSample(platform, { ...sample, body }),
          `${sample.operation.operationId} ${text?.slice(0, 40)}`,
        );
        asked += 1;
      }
  assert.ok(asked > 300, String(asked));
  assert.equal(keysOfPrototypes(), ownKeys);
});

test("prototype keys in every object of every body change no object", async () => {
  const members = [
    `"__proto__":{"polluted":true}`,
    `"constructor":{"prototype":{"polluted":true}}`,
    `"prototype":{"polluted":true}`,
    `"\\u005f_proto__":{"polluted":true}`,
  ];
  let asked = 0;
  for (const sample of samples(world).filter((one) => isPlain(one) && one.type === "application/json"))
    for (const member of members)
      for (const body of withMember(sample.body, member)) {
        assertAnswered(await sendSample(platform, { ...sample, body }), `${sample.operation.operationId} ${member}`);
        assert.equal(Reflect.get({}, "polluted"), undefined, sample.operation.operationId);
        asked += 1;
      }
  assert.ok(asked > 100, String(asked));
  assert.equal(keysOfPrototypes(), ownKeys);
});

test("in every argument of every field: a result or a declared error", async () => {
  const { schema } = platform.platform;
  for (const [kind, type] of [
    ["query", schema.getQueryType()],
    ["mutation", schema.getMutationType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {}).filter(({ args }) => args.length > 0))
      for (const value of [...SQL, ...NAMES]) {
        const answer = await platform.graphql(`${kind} { ${callOf(field, value)} { __typename } }`);
        assertAnswered(answer, `${field.name} ${value}`);
        assert.doesNotMatch(answer.text, /went wrong|UNEXPECTED/, `${field.name} ${value}`);
      }
  assert.equal(keysOfPrototypes(), ownKeys);
});
