import assert from "node:assert/strict";
import { after, test } from "node:test";
import { freshDatabase } from "../../../../test/support/database.ts";
import { dumpSchema } from "./schema-dump.ts";

const { db, drop } = await freshDatabase();
after(drop);

async function makeSchema(statements: readonly string[]): Promise<void> {
  await db.query("drop schema public cascade");
  await db.query("create schema public");
  for (const sql of statements) await db.query(sql);
}

const RICH = [
  "create type mood as enum ('sad', 'it''s fine')",
  "create domain short as text default 'x' constraint short_check check (length(value) < 9)",
  "create sequence numbers start 5",
  "create function one() returns int language sql immutable as 'select 1'",
  `create table parents (id int generated always as identity primary key, label text collate "C" not null, twice int generated always as (id * 2) stored)`,
  "create table children (id int default nextval('numbers') not null, parent int references parents on delete cascade, m mood, s short, unique (parent, id)) with (fillfactor = 70)",
  "create index children_by_mood on children (m) where m is not null",
  "comment on table children is 'they belong'",
  "comment on column children.m is 'how it is'",
  "create table parts (id int not null, at bigint not null) partition by range (at)",
  "create table parts_1 partition of parts for values from (0) to (10)",
  "create view labels as select label from parents",
  "create function touch() returns trigger language plpgsql as 'begin return new; end'",
  "create trigger touched before update on parents for each row execute function touch()",
];

test("everything that a schema holds is printed", async () => {
  await makeSchema(RICH);
  const dump = await dumpSchema(db.query);
  for (const part of [
    "create type mood as enum ('sad', 'it''s fine');",
    "create domain short as text default 'x'::text constraint short_check CHECK",
    "create sequence numbers as bigint start 5 increment 1;",
    "CREATE OR REPLACE FUNCTION public.one()",
    "  id integer generated always as identity not null,\n",
    '  label text collate "C" not null,\n',
    "  twice integer generated always as ((id * 2)) stored,\n",
    "  constraint parents_pkey PRIMARY KEY (id)\n",
    "  id integer default nextval('numbers'::regclass) not null,\n",
    ") with (fillfactor=70);",
    "CREATE INDEX children_by_mood ON public.children USING btree (m) WHERE (m IS NOT NULL);",
    "comment on table children is 'they belong';",
    "comment on column children.m is 'how it is';",
    "create table parts (\n  id integer not null,\n  at bigint not null\n) partition by RANGE (at);",
    "create table parts_1 partition of parts FOR VALUES FROM ('0') TO ('10');",
    "alter table children add constraint children_parent_fkey FOREIGN KEY (parent) REFERENCES parents(id) ON DELETE CASCADE;",
    "create view labels as\n SELECT label",
    "CREATE TRIGGER touched BEFORE UPDATE ON public.parents",
  ]) {
    assert.ok(dump.includes(part), `${part}\nis missing in\n${dump}`);
  }
  assert.ok(!dump.includes("sequence parents_id_seq"), "an identity column brings its sequence");
});

test("the order in which things were made does not show", async () => {
  const independent = [
    "create table b (id int)",
    "create table a (id int)",
    "create index z on b (id)",
    "create index y on b (id)",
  ];
  await makeSchema(independent);
  const one = await dumpSchema(db.query);
  await makeSchema([
    "create table a (id int)",
    "create table b (id int)",
    "create index y on b (id)",
    "create index z on b (id)",
  ]);
  assert.equal(await dumpSchema(db.query), one);
});

test("the dump makes the schema that it describes", async () => {
  await makeSchema(RICH);
  const dump = await dumpSchema(db.query);
  const statements = dump.split(/;\n+(?=create|CREATE|alter|comment)/).map((sql) => sql.trim());
  await makeSchema(statements);
  assert.equal(await dumpSchema(db.query), dump);
});

test("what cannot be printed is refused by name", async () => {
  await makeSchema(["create table guarded (id int)", "create policy only_mine on guarded using (id = 1)"]);
  await assert.rejects(dumpSchema(db.query), /the policy only_mine/);
});
