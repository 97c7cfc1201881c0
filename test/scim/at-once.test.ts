/** Concurrent requests of directories over two replicas: the later one is applied completely, and names stay unique. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fromWire } from "../../src/core/ids.ts";
import { directoryToken } from "../support/clients/directory.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../support/platform.ts";
import { until } from "../support/until.ts";
import { callScim } from "./replay.ts";

const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let platform: TestPlatform;
let replica: TestPlatform;
let token: string;
const people: string[] = [];
before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  token = await directoryToken(platform);
  for (const name of ["ada", "grace", "linus", "zoe"]) {
    const { body, text } = await call(platform, "POST", "/Users", { schemas: [USER], userName: `${name}@example.com` });
    assert.ok(body.id, text);
    people.push(body.id);
  }
});
after(() => platform?.stop());

const call = (on: TestPlatform, method: string, path: string, body?: unknown): Promise<Answer> =>
  callScim(on, { token }, method, path, body === undefined ? {} : { body });
const membersIn = ({ body }: Answer): string[] =>
  ((body.members ?? []) as { value: string }[]).map(({ value }) => value).toSorted();
const some = (...which: readonly number[]) => which.map((nth) => people[nth] as string).toSorted();
const values = (...which: readonly number[]) => some(...which).map((value) => ({ value }));

/** Waits until this number of statements in the test's database waits for a lock. */
const waiting = (count: number): Promise<unknown> =>
  until(
    () =>
      platform.db.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      ),
    (rows) => rows.length === count,
  );

async function groupOf(...which: readonly number[]): Promise<string> {
  const body = { schemas: [GROUP], displayName: `Group ${nextName()}`, members: values(...which) };
  const made = await call(platform, "POST", "/Groups", body);
  assert.equal(made.status, 201, made.text);
  return made.body.id;
}
let names = 0;
const nextName = (): number => (names += 1);

type Request = (id: string) => Promise<Answer>;

/** Sends both while the group is locked, the second one when the first one waits, so that their order is fixed. */
async function inTurn(id: string, first: Request, second: Request): Promise<readonly [Answer, Answer]> {
  let both: Promise<[Answer, Answer]> | undefined;
  await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from user_groups where id = $1 for update", [fromWire(id)]);
    const one = first(id);
    await waiting(1);
    both = Promise.all([one, second(id)]);
    await waiting(2);
  });
  assert.ok(both);
  return both;
}

const put =
  (on: TestPlatform, name: string, ...which: readonly number[]): Request =>
  (id) =>
    call(on, "PUT", `/Groups/${id}`, { schemas: [GROUP], displayName: name, members: values(...which) });
const patch =
  (on: TestPlatform, op: string, ...which: readonly number[]): Request =>
  (id) =>
    call(on, "PATCH", `/Groups/${id}`, {
      schemas: [PATCH],
      Operations: [{ op, path: "members", value: values(...which) }],
    });

test("of two concurrent replacements of the members the later one wins completely, and each response shows its members", async () => {
  const pairs: readonly (readonly [Request, Request])[] = [
    [put(platform, "Set 1", 1), put(replica, "Set 2", 2)],
    [patch(platform, "replace", 1), put(replica, "Set 3", 2)],
    [put(platform, "Set 4", 1), patch(replica, "replace", 2)],
    [patch(replica, "replace", 1), patch(platform, "replace", 2)],
  ];
  for (const [first, second] of pairs) {
    const id = await groupOf(0, 3);
    const [one, two] = await inTurn(id, first, second);
    assert.deepEqual([membersIn(one), membersIn(two)], [some(1), some(2)], `${one.text} ${two.text}`);
    assert.deepEqual(membersIn(await call(replica, "GET", `/Groups/${id}`)), some(2));
    assert.deepEqual([one.body.meta.version, two.body.meta.version], ['W/"2"', 'W/"3"']);
  }
});

test("concurrent additions and removals are all applied", async () => {
  const id = await groupOf(0, 3);
  const [, after] = await inTurn(id, patch(platform, "replace", 1), patch(replica, "add", 2));
  assert.deepEqual(membersIn(after), some(1, 2));
  const [, gone] = await inTurn(id, patch(platform, "add", 0), patch(replica, "remove", 1));
  assert.deepEqual(membersIn(gone), some(0, 2));
});

const theirs = (name: string): Promise<readonly unknown[]> =>
  platform.db.query("select 1 from user_groups where lower(name) = lower($1)", [name]);

test("of concurrent groups with one name, in any letter case, one is created and the others are 409", async () => {
  const [one, two] = [["CEO Überall", platform] as const, ["ceo ÜBERALL", replica] as const];
  const make = ([displayName, on]: typeof one | typeof two): Promise<Answer> =>
    call(on, "POST", "/Groups", { schemas: [GROUP], displayName });
  let all: Promise<Answer[]> | undefined;
  const undone = new Error("undone");
  await platform.db
    .transaction(async (tx) => {
      await tx.query(
        `insert into user_groups (account_id, id, identifier, name, description, tags, externally_managed, version, created_at, updated_at)
         select id, gen_random_uuid(), 'by_hand', 'Ceo überall', '', '{}', true, 1, 0, 0 from accounts limit 1`,
      );
      all = Promise.all([make(one), make(two)]);
      await waiting(2);
      throw undone;
    })
    .catch((error: unknown) => assert.equal(error, undone));
  const statuses = (await all)?.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [201, 409]);
  assert.equal((await theirs("ceo überall")).length, 1);
});

test("of two concurrent renames to the same name the later one is 409 uniqueness", async () => {
  const [a, b] = [await groupOf(), await groupOf()];
  let later: Promise<Answer> | undefined;
  await platform.db.transaction(async (tx) => {
    await tx.query("update user_groups set name = 'Twins' where id = $1", [fromWire(a)]);
    later = put(replica, "tWINS")(b);
    await waiting(1);
  });
  const answer = await later;
  assert.deepEqual([answer?.status, answer?.body.scimType], [409, "uniqueness"], answer?.text ?? "");
  assert.match(String(answer?.body.detail), /A group \[tWINS\]/);
});

test("the migration separates existing groups with the same name: the first keeps its name", async () => {
  const [file = ""] = globSync("migrations/*_groups_of_directories.sql");
  await platform.db.query("drop index user_groups_by_provided_name");
  const rows: readonly (readonly [identifier: string, name: string])[] = [
    ["one", "Öl"],
    ["two", "öl"],
    ["three", "ÖL"],
    ["four", "Öl (two)"],
  ];
  for (const [identifier, name] of rows)
    await platform.db.query(
      `insert into user_groups (account_id, id, identifier, name, description, tags, externally_managed, version, created_at, updated_at)
       select id, uuidv7(), $1, $2, '', '{}', true, 1, 0, 0 from accounts limit 1`,
      [identifier, name],
    );
  const [before = "", index = ""] = readFileSync(file, "utf8").split(/(?=^create unique index)/m);
  for (const statement of [before, index]) await platform.db.query(statement);
  const found = await platform.db.query<{ identifier: string; name: string }>(
    "select identifier, name from user_groups where created_at = 0 order by id",
  );
  assert.deepEqual(
    found.map(({ identifier, name }) => [identifier, name]),
    [
      ["one", "Öl"],
      ["two", "öl (two)"],
      ["three", "ÖL (three)"],
      ["four", "Öl (two) (four)"],
    ],
  );
  await assert.rejects(platform.db.query("update user_groups set name = 'öL' where identifier = 'two'"));
});
