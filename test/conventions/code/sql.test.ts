import assert from "node:assert/strict";
import { test } from "node:test";
import { readCode } from "../../../scripts/lib/files.ts";
import { assertNoViolations } from "../lib/violations.ts";
import { sqlViolations } from "../lib/sql.ts";

const planted = (file: string, text: string): number => sqlViolations(new Map([[file, text]])).length;

test("SQL is only in store.ts, in platform/db and in migrations", () => assertNoViolations(sqlViolations(readCode())));

const statements = [
  "`select id from projects where account_id = $1`",
  "`\n  SELECT id\n  FROM projects`",
  '"select 1"',
  '"select pg_notify($1, $2)"',
  '"insert into projects (id) values ($1)"',
  "`insert into ${table} values (1)`",
  '"update projects set name = $2"',
  '"update projects p set name = $2"',
  '"DELETE FROM projects"',
  '"with recursive up as (select 1) select * from up"',
  '"create table t (id uuid)"',
  "`where account_id = $1`",
  "` and id > $${values.length}`",
];
for (const statement of statements) {
  test(`planted: ${statement} in an operation`, () => {
    assert.equal(planted("src/projects/create.ts", `const text = ${statement};`), 1);
    assert.equal(planted("delegate/run.ts", `const text = ${statement};`), 1);
    assert.equal(planted("src/projects/store.ts", `const text = ${statement};`), 0);
    assert.equal(planted("src/projects/store/rows.ts", `const text = ${statement};`), 0);
    assert.equal(planted("src/platform/db/notify/listen.ts", `const text = ${statement};`), 0);
    assert.equal(planted("src/projects/create.test.ts", `const text = ${statement};`), 0);
  });
}

test("a sentence is not SQL", () => {
  for (const text of [
    "Select a project from the list.",
    "update the project",
    "costs $5",
    "set -eu",
    "deleted from here",
  ]) {
    assert.equal(planted("src/projects/create.ts", `const text = ${JSON.stringify(text)};`), 0, text);
  }
});
