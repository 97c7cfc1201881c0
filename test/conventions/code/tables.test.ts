/** Each table belongs to one slice; stores of others read it only where a list would need a statement for each row. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readCode, root } from "../../../scripts/lib/files.ts";
import { assertNoViolations } from "../lib/violations.ts";
import { tablesIn, tableViolations } from "../lib/tables.ts";

const NAMES = "rows store ids; identifiers, names and whether the project or pipeline exists come from a join";
const AUTHORS = "who owns a trigger and who wrote what it runs is read by one statement";
const PEOPLE = "SCIM filters and sorts people and groups by columns of both";

/** Why a slice reads the table of another one. */
const reasons: Readonly<Record<string, string>> = {
  "scim reads user_group_members": PEOPLE,
  "scim reads user_groups": PEOPLE,
  "scim reads users": PEOPLE,
  "access reads users": "members of a group are people of its account",
  "login reads users": "lists of invitations have the names of the invited users",
  "access reads service_accounts": "lists of principals have their names",
  "audit reads accounts": "entries need an account that exists",
  "commands reads accounts": "commands on the server's machine act for its account",
  "settings reads accounts": "writers of a setting take turns by the row of their account",
  "approvals reads executions": "what waits for a person is listed with its execution, as far as the reader may see it",
  "approvals reads execution_nodes": "the node of a step leads to its definition",
  "approvals reads projects": NAMES,
  "approvals reads pipelines": NAMES,
  "environments reads projects": NAMES,
  "executions reads projects": NAMES,
  "executions reads pipelines": NAMES,
  "executions reads pipeline_versions": "an execution stores the version that it runs, not its document",
  "pipelines reads projects": NAMES,
  "triggers reads projects": NAMES,
  "triggers reads pipelines": NAMES,
  "triggers reads pipeline_versions": AUTHORS,
  "triggers reads input_sets": AUTHORS,
};

const tables = tablesIn(readFileSync(path.join(root, "migrations/schema.sql"), "utf8"));

test("a table is written by one slice, and others read it only for a listed reason", () => {
  assert.ok(tables.size > 30, `${tables.size} tables`);
  assertNoViolations(tableViolations(readCode(), tables), reasons);
});

test("planted: a second writer and an unlisted reader", () => {
  const files = {
    "src/projects/store.ts": "`insert into projects (id) values ($1)`",
    "src/pipelines/store/rows.ts": "`update projects set name = $1`",
    "src/triggers/store/rows.ts": "`select id from triggers t join projects p on p.id = t.id`",
    "src/triggers/rows.test.ts": "`delete from projects`",
  };
  const keys = tableViolations(new Map(Object.entries(files)), new Set(["projects"])).map(({ key }) => key);
  assert.deepEqual(keys, ["projects", "triggers reads projects"]);
});
