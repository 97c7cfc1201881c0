/** The chain: entries are sealed in the order of their transactions, and every manipulation is detected. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { until } from "../../../test/support/until.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { createAudit } from "../record.ts";
import { sealEntries } from "./seal.ts";
import type { NotedHead } from "./chain.ts";
import { verifyChain, type Broken } from "./verify.ts";

let platform: TestPlatform;
let db: Db;
let accountId: Uuid;
let sealAll: () => Promise<number>;
before(async () => {
  platform = await startTestPlatform();
  ({ db } = platform);
  accountId = fromWire(platform.accountId) as Uuid;
  sealAll = sealEntries({ db });
  await append(20);
});
after(() => platform?.stop());

/** Repeats until everything is sealed: transactions of other test files in the same cluster hold the horizon back. */
const seal = () =>
  until(async () => {
    await sealAll();
    const [row] = await db.query<{ open: number }>(
      `select count(*) as open from audit_entries e
        where not exists (select 1 from audit_seals s where s.account_id = e.account_id and s.entry_id = e.id)`,
    );
    return row?.open === 0;
  }, Boolean);

const newId = (): Uuid => randomUUIDv7() as Uuid;
const record = (tx: Tx, name: string): Promise<void> =>
  createAudit({ clock: platform.clock, newId }).record(
    tx,
    { kind: "system", accountId },
    { operation: "thing.make", resourceType: "THING", resourceId: name, scope: {}, after: { name } },
  );

async function append(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await db.transaction((tx) => record(tx, `thing ${nth}`));
  await seal();
}

const verify = (...noted: NotedHead[]) => verifyChain(db, accountId, { now: platform.clock.now(), noted });

test("recorded entries are in the chain, and the chain is intact", async () => {
  const { head, cut, pending, broken, entries } = await verify();
  const [row] = await db.query<{ total: number }>("select count(*) as total from audit_entries");
  assert.deepEqual([cut.sequence, pending, broken], [0, 0, undefined]);
  assert.deepEqual([head.sequence, entries], [row?.total, row?.total]);
  assert.ok(entries >= 20);
});

test("an entry that commits late is not skipped, and no later entry is sealed before it", async () => {
  const before = (await verify()).head.sequence;
  const open = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    await record(tx, "late");
    written.resolve();
    await open.promise;
  });
  await written.promise;
  await db.transaction((tx) => record(tx, "early"));
  await sealAll();
  const meanwhile = await verify();
  open.resolve();
  await late;
  assert.deepEqual([meanwhile.head.sequence, meanwhile.pending, meanwhile.broken], [before, 1, undefined]);
  await seal();
  const now = await verify();
  assert.deepEqual([now.head.sequence, now.pending, now.broken], [before + 2, 0, undefined]);
});

test("with many writers and several sealers at once, every entry is sealed once", async () => {
  const from = (await verify()).head.sequence;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let nth = 0; nth < 25; nth += 1) await db.transaction((tx) => record(tx, `${writer} ${nth}`));
  });
  const sealers = Array.from({ length: 3 }, async () => {
    for (let nth = 0; nth < 20; nth += 1) await sealAll();
  });
  await Promise.all([...writers, ...sealers]);
  await seal();
  const { head, broken, pending } = await verify();
  assert.deepEqual([head.sequence - from, broken, pending], [200, undefined, 0]);
});

test("accounts have separate chains", async () => {
  const other = await platform.addAccount();
  const theirs = fromWire(other.accountId) as Uuid;
  const mine = (await verify()).head;
  await db.transaction((tx) =>
    createAudit({ clock: platform.clock, newId }).record(
      tx,
      { kind: "system", accountId: theirs },
      { operation: "thing.make", resourceType: "THING", resourceId: "x", scope: {} },
    ),
  );
  await seal();
  assert.deepEqual((await verify()).head, mine);
  const { head, broken } = await verifyChain(db, theirs, { now: platform.clock.now() });
  assert.deepEqual([head.sequence, broken], [1, undefined]);
});

test("sealing continues in a restored database, which numbers its transactions anew", async () => {
  const [kept] = await db.query<{ xid: string }>("select xid::text from audit_sealed");
  await db.query("update audit_sealed set xid = '9000000000000'");
  await append(3);
  const { broken, pending } = await verify();
  assert.deepEqual([broken, pending], [undefined, 0]);
  const [now] = await db.query<{ xid: string }>("select xid::text from audit_sealed");
  // Transactions of other databases may keep the number unchanged.
  assert.ok(BigInt(now?.xid ?? 0) >= BigInt(kept?.xid ?? 0) && BigInt(now?.xid ?? 0) < 9_000_000_000_000n);
});

test("a database user who may write entries and seals cannot change, delete or empty them", async () => {
  const statements = [
    "update audit_entries set resource_id = 'other'",
    "delete from audit_entries",
    "truncate audit_entries",
    "update audit_seals set sequence = sequence",
    "delete from audit_seals",
    "truncate audit_seals",
  ];
  for (const statement of statements)
    await assert.rejects(db.query(statement), /the audit trail is not changed/, statement);
  // The setting of the retention, which allows it to delete the oldest entries, does not allow updates.
  for (const statement of statements.filter((one) => one.startsWith("update"))) {
    const work = db.transaction(async (tx) => {
      await tx.query("select set_config('railhead.audit_retention', 'on', true)");
      await tx.query(statement);
    });
    await assert.rejects(work, /the audit trail is not changed/, statement);
  }
});

const tampered = (...statements: readonly string[]): Promise<Broken | undefined> => tamperedBeside([], ...statements);

/** Manipulates the database with all permissions, verifies the chain, and rolls back. */
async function tamperedBeside(
  noted: readonly NotedHead[],
  ...statements: readonly string[]
): Promise<Broken | undefined> {
  let found: Broken | undefined;
  const undo = new Error("undo");
  const work = db.transaction(async (tx) => {
    for (const table of ["audit_entries", "audit_seals"]) await tx.query(`alter table ${table} disable trigger user`);
    for (const statement of statements) await tx.query(statement.replaceAll("$account", `'${accountId}'`));
    found = (await verifyChain(tx, accountId, { now: platform.clock.now(), noted })).broken;
    throw undo;
  });
  await assert.rejects(work, undo);
  return found;
}

const entryAt = (sequence: number): string =>
  `id = (select entry_id from audit_seals where account_id = $account and sequence = ${sequence})`;
const here = (sequence: number): string => `account_id = $account and sequence = ${sequence}`;
const seen = (broken: Broken | undefined) => [broken?.how, broken?.sequence];

test("changed: any column of any entry", async () => {
  const columns = await db.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns
      where table_name = 'audit_entries' and column_name not in ('account_id', 'id', 'xid')`,
  );
  assert.ok(columns.length >= 20);
  const other: Readonly<Record<string, (name: string) => string>> = {
    text: (name) => `coalesce(${name}, '') || 'x'`,
    bigint: (name) => `${name} + 1`,
    integer: (name) => `coalesce(${name}, 0) + 1`,
    uuid: () => "gen_random_uuid()",
    json: () => `'{"changes":[]}'`,
  };
  for (const { name, type } of columns) {
    const value = other[type]?.(name);
    assert.ok(value, `no other value is known for ${name} ${type}`);
    const broken = await tampered(`update audit_entries set ${name} = ${value} where ${entryAt(7)}`);
    assert.deepEqual(seen(broken), ["changed", 7], name);
  }
});

test("changed: the entry with its seal", async () => {
  const forged = `update audit_seals set content = sha256('x') where ${here(7)}`;
  assert.deepEqual(seen(await tampered(forged)), ["changed", 7]);
  assert.deepEqual(seen(await tampered(`update audit_seals set hash = sha256('x') where ${here(7)}`)), ["changed", 7]);
  assert.deepEqual(
    seen(await tampered("update audit_chains set hash = sha256('x') where account_id = $account"))[0],
    "changed",
  );
});

test("missing: an entry, an entry with its seal, the end, the beginning", async () => {
  const { head } = await verify();
  const last = head.sequence;
  assert.deepEqual(seen(await tampered(`delete from audit_entries where ${entryAt(7)}`)), ["missing", 7]);
  assert.deepEqual(
    seen(await tampered(`delete from audit_entries where ${entryAt(7)}`, `delete from audit_seals where ${here(7)}`)),
    ["missing", 7],
  );
  assert.deepEqual(
    seen(
      await tampered(`delete from audit_entries where ${entryAt(last)}`, `delete from audit_seals where ${here(last)}`),
    ),
    ["missing", last],
  );
  assert.deepEqual(
    seen(
      await tampered(
        `delete from audit_seals where account_id = $account and sequence <= 3`,
        `update audit_chains set cut_sequence = 3, cut_hash = (select hash from audit_seals where ${here(3)})
          where account_id = $account and exists (select 1 from audit_seals where ${here(3)})`,
      ),
    ),
    ["missing", 1],
  );
  const shorter = [
    `update audit_chains set cut_sequence = 3, cut_hash = (select hash from audit_seals where ${here(3)}) where account_id = $account`,
    `delete from audit_entries e using audit_seals s where s.account_id = $account and s.sequence <= 3 and e.id = s.entry_id`,
    `delete from audit_seals where account_id = $account and sequence <= 3`,
  ];
  assert.deepEqual(seen(await tampered(...shorter)), ["missing", 3], "a cut that no retention has told of");
});

test("inserted: an entry of the past, one with a seal, one after the end", async () => {
  const copy = (id: string, at: number): string =>
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id, xid)
     select account_id, '${id}', at, actor_kind, actor_name, operation, resource_type, 'forged', xid
       from audit_entries where account_id = $account and ${entryAt(at)}`;
  const id = "00000000-0000-7000-8000-000000000001";
  const unsealed = await tampered(copy(id, 7));
  assert.deepEqual([unsealed?.how, unsealed?.entryId], ["inserted", id]);
  const content = `(select content from audit_seals where ${here(3)})`;
  const { head } = await verify();
  const between = [
    copy(id, 7),
    `update audit_seals set sequence = -sequence where account_id = $account and sequence >= 8`,
    `update audit_seals set sequence = 1 - sequence where account_id = $account and sequence < 0`,
    `update audit_chains set sequence = sequence + 1 where account_id = $account`,
  ];
  // With a content that fits the forged entry, only the chain reveals it.
  const fitting = await contentIn(copy(id, 7), id);
  const sealed = `insert into audit_seals values ($account, 8, '${id}', '\\x${fitting}', sha256('x'))`;
  assert.deepEqual(seen(await tampered(...between, sealed)), ["inserted", 8]);
  const atEnd = `insert into audit_seals values ($account, ${head.sequence + 1}, '${id}', ${content}, sha256('x'))`;
  assert.notEqual(await tampered(copy(id, 7), atEnd), undefined);
});

/** The content of an entry as the sealer would compute it. */
async function contentIn(insert: string, id: string): Promise<string> {
  const { contentOf } = await import("./chain.ts");
  const { unsealedEntries } = await import("../store/chain.ts");
  let content = "";
  const undo = new Error("undo");
  const work = db.transaction(async (tx) => {
    await tx.query(insert.replaceAll("$account", `'${accountId}'`));
    const entry = (await unsealedEntries(tx)).find((one) => one.id === id);
    assert.ok(entry);
    content = contentOf(entry).toString("hex");
    throw undo;
  });
  await assert.rejects(work, undo);
  return content;
}

test("reordered: two entries in each other's place, near and far, with and without their hashes", async () => {
  const swap = (columns: readonly string[], one: number, other: number): string[] => [
    `create temporary table held on commit drop as select * from audit_seals where account_id = $account and sequence in (${one}, ${other})`,
    `delete from audit_seals where account_id = $account and sequence in (${one}, ${other})`,
    `insert into audit_seals (account_id, sequence, entry_id, content, hash)
       select a.account_id, a.sequence, b.entry_id, b.content, ${columns.includes("hash") ? "b" : "a"}.hash
         from held a join held b on a.sequence <> b.sequence`,
  ];
  for (const [one, other] of [
    [7, 8],
    [7, 15],
  ] as const)
    for (const columns of [["content"], ["content", "hash"]])
      assert.deepEqual(
        seen(await tampered(...swap(columns, one, other))),
        ["reordered", one],
        `${one} ${other} ${columns.join()}`,
      );
});

test("a head noted elsewhere reveals what the database alone cannot", async () => {
  const { head } = await verify();
  assert.equal((await verify(head)).broken, undefined);
  const longer = { ...head, sequence: head.sequence + 5 };
  assert.deepEqual(seen((await verify(longer)).broken), ["missing", head.sequence + 1]);
  const other = { sequence: 7, hash: Buffer.alloc(32, 1), at: 0 };
  assert.deepEqual(seen((await verify(other)).broken), ["changed", 7]);
  const none = { sequence: 0, hash: Buffer.alloc(32), at: 0 };
  assert.equal((await verify(none, head)).broken, undefined);
  const noneButOther = { sequence: 0, hash: Buffer.alloc(32, 1), at: 0 };
  assert.deepEqual(seen((await verify(head, noneButOther)).broken), ["changed", 0]);
});

test("the retention removes old entries and records it, and the chain stays intact", async () => {
  const DAY = 86_400_000;
  const set = (value: string) =>
    platform.send("PUT", "/ng/api/settings", {
      contentType: JSON_TYPE,
      body: JSON.stringify([{ identifier: "audit_retention_days", value, allowOverrides: true, updateType: "UPDATE" }]),
    });
  const old = (await verify()).head;
  platform.clock.advance(20 * DAY);
  await append(5);
  await platform.platform.sweep();
  assert.equal((await verify()).cut.sequence, 0, "0 days keep it for ever");
  assert.equal((await set("10")).status, 200);
  platform.clock.advance(DAY / 24);
  await platform.platform.sweep();
  await seal();
  const { cut, broken, pending, entries } = await verify();
  assert.deepEqual([{ ...cut, at: old.at }, broken, pending], [old, undefined, 0]);
  const [left] = await db.query<{ total: number; oldest: number }>(
    "select count(*) as total, min(at) as oldest from audit_entries where account_id = $1",
    [accountId],
  );
  assert.equal(left?.total, entries);
  assert.ok((left?.oldest ?? 0) >= platform.clock.now() - 10 * DAY);
  const [told] = await db.query<{ difference: { changes: { field: string; after: unknown }[] } }>(
    "select difference from audit_entries where operation = 'audit.sweep' and account_id = $1",
    [accountId],
  );
  assert.deepEqual(told?.difference.changes[0], { field: "entries", after: old.sequence });
  assert.equal((await verify(old)).broken, undefined, "a head noted at the cut");
  const atCut = { ...old, hash: Buffer.alloc(32, 1) };
  assert.deepEqual(seen((await verify(atCut)).broken), ["changed", old.sequence]);
  const beforeCut = { ...old, sequence: old.sequence - 1, hash: Buffer.alloc(32, 1) };
  const { unchecked, broken: none } = await verify(old, beforeCut);
  assert.deepEqual([unchecked, none], [1, undefined], "a head noted before the cut");
  await set("0");
});

/** An attacker with SQL only: deletes the first entries and forges the entry of the retention. */
const forgedCut = (noted: NotedHead, at: number, before: unknown): string[] => [
  `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id, difference)
     select $account, uuidv7(), ${at}, 'system', 'Railhead', 'audit.sweep', 'AUDIT', '', json_build_object('changes', json_build_array(
       json_build_object('field', 'before', 'after', ${JSON.stringify(before).replaceAll('"', "'")}),
       json_build_object('field', 'cut', 'after', '${noted.sequence}:${noted.hash.toString("hex")}')))`,
  `delete from audit_entries e using audit_seals s where s.account_id = $account and e.id = s.entry_id and s.sequence <= ${noted.sequence}`,
  `update audit_chains set cut_sequence = ${noted.sequence}, cut_hash = '\\x${noted.hash.toString("hex")}' where account_id = $account`,
  `delete from audit_seals where account_id = $account and sequence <= ${noted.sequence}`,
];

test("missing: entries covered by a forged retention entry, if a head of the last day was noted", async () => {
  const noted = (await verify()).head;
  const now = platform.clock.now();
  const DAY = 86_400_000;
  const judged = async (at: number, before: unknown, ...heads: NotedHead[]) =>
    seen(await tamperedBeside(heads, ...forgedCut(noted, at, before)));
  assert.deepEqual(await judged(now, now - DAY, noted), ["missing", noted.sequence]);
  const earlier = { ...noted, sequence: noted.sequence - 1, hash: Buffer.alloc(32, 1) };
  assert.deepEqual(await judged(now, now - DAY, earlier), ["missing", noted.sequence - 1]);
  // The retention never removes such recent entries, and its entry is never in the future.
  assert.deepEqual(await judged(now, now), ["missing", noted.sequence]);
  assert.deepEqual(await judged(now + 365 * DAY, now + 364 * DAY), ["missing", noted.sequence]);
  assert.deepEqual(await judged(now, "long ago"), ["missing", noted.sequence]);
});

test("a verification reports about its own account only", async () => {
  const { accountId: id } = await verify();
  assert.equal(toWire(id), platform.accountId);
});

/** An attacker with SQL only inserts an entry; the sealer takes it for one of the server's. */
const putIn = async (at: number, outcome = "success"): Promise<Uuid> => {
  const id = newId();
  await db.query(
    `insert into audit_entries (account_id, id, at, actor_kind, actor_name, operation, resource_type, resource_id, outcome)
     values ($1, $2, $3, 'system', 'Railhead', 'thing.make', 'THING', 'put in', $4)`,
    [accountId, id, at, outcome],
  );
  await seal();
  return id;
};

test("decreasing timestamps are reported once: those before a noted head were reported when it was noted", async () => {
  const MINUTE = 60_000;
  await append(1);
  const { head } = await verify();
  const now = platform.clock.now();
  assert.equal(head.at, now);
  await putIn(now - 10 * MINUTE);
  await putIn(now - 60 * MINUTE, "refused");
  assert.equal((await verify()).back, undefined, "within what transactions and waiting refusals explain");
  const id = await putIn(now - 10 * MINUTE - 1);
  await putIn(now - 15 * MINUTE);
  const { back, broken, head: end } = await verify(head);
  const first = { sequence: head.sequence + 3, entryId: id, at: now - 10 * MINUTE - 1 };
  assert.deepEqual(
    [back?.first, back?.behind.sequence, back?.behind.at, back?.entries],
    [first, head.sequence, now, 2],
  );
  assert.equal(broken, undefined);
  assert.equal((await verify(end)).back, undefined);
});

test("an entry with an old timestamp does not make a head old: entries noted with it stay protected from a forged cut", async () => {
  const DAY = 86_400_000;
  await append(1);
  await putIn(platform.clock.now() - 3 * DAY);
  const { head } = await verify();
  assert.equal(head.at, platform.clock.now());
  const now = platform.clock.now();
  const broken = await tamperedBeside([head], ...forgedCut(head, now, now - DAY));
  assert.deepEqual(seen(broken), ["missing", head.sequence]);
});
