import assert from "node:assert/strict";
import { test } from "node:test";
import { exceptions } from "../../../scripts/lib/file-rules.ts";
import { readCode } from "../../../scripts/lib/files.ts";
import { parse } from "../../../scripts/lib/parse.ts";
import { importViolations } from "../lib/imports.ts";
import { assertNoViolations } from "../lib/violations.ts";

const planted = (files: Record<string, string>): readonly string[] =>
  importViolations(new Map(Object.entries(files))).map(({ message }) => message);

/** Checks one file with one import. Returns the violations. */
const plant = (from: string, to: string): readonly string[] => planted({ [from]: `import { x } from "${to}";` });

test("every import follows the table in scripts/import-rules.ts", () => {
  const reasons = Object.fromEntries(exceptions.map(({ from, to, because }) => [`${from} → ${to}`, because]));
  assertNoViolations(importViolations(readCode()), reasons);
});

test("the parser finds every form of module name, and no other text", () => {
  const source = `
    import a, { type B } from "1"; import type { C } from '2'; import "3"; import * as d from "4";
    export * from "5"; export type * from "6"; export { e } from "7"; export type { F } from "8";
    const g = await import("9"); const h = await import(\`10\`); let i: import("11").I; let j: typeof import("12");
    const k = require("13");
    const no = 'import x from "no"'; /* import y from "no" */ // import("no")
    const computed = await import(no);
  `;
  const { imports } = parse("a.ts", source);
  assert.deepEqual(
    imports.map(({ specifier }) => specifier),
    ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"],
  );
  assert.deepEqual(
    imports.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier),
    ["2", "6", "8", "11", "12"],
  );
  assert.throws(() => parse("b.ts", "import {"), /b\.ts does not parse/);
});

const forbidden: readonly (readonly [from: string, to: string, because: RegExp])[] = [
  [
    "src/core/ids.ts",
    "../platform/log/log.ts",
    /^src\/core\/ids\.ts:1 may not import src\/platform\/log\/log\.ts, because core/,
  ],
  ["src/core/ids.ts", "node:fs", /no I\/O/],
  ["src/core/ids.ts", "pg", /no I\/O/],
  ["src/engine/step.ts", "../core/ids.ts", /nothing but a hash/],
  ["src/engine/step.ts", "zod", /nothing but a hash/],
  ["src/engine/step.ts", "node:fs", /nothing but a hash/],
  ["protocol/messages.ts", "../src/core/ids.ts", /two programs share/],
  ["src/platform/http/http.ts", "../../projects/index.ts", /no domain/],
  ["src/platform/http/http.ts", "../../../protocol/messages.ts", /no domain/],
  ["src/projects/create.ts", "../pipelines/index.ts", /slices before it/],
  ["src/executions/advance.ts", "../triggers/index.ts", /slices before it/],
  ["src/triggers/fire.ts", "../executions/create.ts", /the entry point of executions is its index\.ts/],
  ["src/triggers/fire.ts", "../engine/model.ts", /slices before it/],
  ["src/executions/advance.ts", "../../protocol/messages.ts", /slices before it/],
  ["src/pipelines/list.test.ts", "../projects/store.ts", /entry point/],
  ["src/scim/rest/routes.ts", "../../pipelines/index.ts", /no other slice/],
  ["src/app.ts", "./projects/store.ts", /entry point/],
  ["src/composition/slices.ts", "../engine/model.ts", /only their slices use/],
  ["src/main.ts", "./projects/index.ts", /starts and stops/],
  ["src/projects/create.ts", "../app.ts", /app\.ts depends on everything/],
  ["bench/run.ts", "../src/app.ts", /app\.ts depends on everything/],
  ["test/scenarios/run.test.ts", "../../src/app.ts", /app\.ts depends on everything/],
  ["delegate/run.ts", "../src/core/ids.ts", /only the protocol/],
  ["cli/list.ts", "../src/core/ids.ts", /only what api/],
  ["cli/list.ts", "../src/main.ts", /only what api/],
  ["web/pages/list.tsx", "../../protocol/messages.ts", /only what api/],
  ["src/projects/create.ts", "pg", /only platform\/db/],
  ["test/support/server.ts", "pg", /only platform\/db/],
  ["src/projects/create.ts", "/src/core/ids.ts", /relative path/],
  ["src/projects/create.ts", "#core/ids.ts", /relative path/],
  ["src/projects/create.ts", "../../package.json", /no layer/],
  ["src/projects/problems.ts", "./store.ts", /only computes/],
  ["src/pipelines/pipeline.ts", "./store.ts", /only computes/],
  ["src/projects/wire.ts", "./store/rows.ts", /only computes/],
  ["src/projects/create.ts", "./rest.ts", /the order is noun/],
  ["src/projects/store.ts", "./index.ts", /the order is noun/],
  ["src/projects/graphql.ts", "./rest.ts", /do not import each other/],
  ["src/projects/graphql/types.ts", "../rest/query.ts", /do not import each other/],
  ["src/projects/create.ts", "./rest/query.ts", /the order is noun/],
  ["src/projects/wire/project.ts", "../store/rows.ts", /only computes/],
];
for (const [from, to, because] of forbidden) {
  test(`planted: ${from} imports ${to}`, () => {
    const messages = plant(from, to);
    assert.equal(messages.length, 1, messages.join("\n"));
    assert.match(messages[0] ?? "", because);
  });
}

const allowed: readonly (readonly [from: string, to: string])[] = [
  ["src/core/page.ts", "./ids.ts"],
  ["src/core/page.ts", "zod"],
  ["src/engine/step.ts", "./model.ts"],
  ["src/engine/step.test.ts", "fast-check"],
  ["src/platform/db/db.ts", "pg"],
  ["src/triggers/fire.ts", "../executions/index.ts"],
  ["src/executions/advance.ts", "../engine/model.ts"],
  ["src/executions/advance.test.ts", "../../test/support/db.ts"],
  ["src/delegates/socket.ts", "../../protocol/messages.ts"],
  ["src/projects/store.ts", "./project.ts"],
  ["src/connectors/connector.ts", "./types/registry.ts"],
  ["src/projects/rest.ts", "./create.ts"],
  ["src/projects/rest/files.ts", "./query.ts"],
  ["src/main.ts", "./app.ts"],
  ["test/support/server.ts", "../../src/app.ts"],
  ["cli/railhead.js", "../src/main.ts"],
  ["cli/railhead.js", "../scripts/guard.js"],
];
for (const [from, to] of allowed) {
  test(`allowed: ${from} imports ${to}`, () => assert.deepEqual(plant(from, to), []));
}

test("planted: importing a type of pg is no connection", () => {
  assert.deepEqual(planted({ "src/projects/store.ts": 'import type { QueryResultRow } from "pg";' }), []);
});

test("planted: a noun that reaches the store through an operation", () => {
  const messages = planted({
    "src/projects/project.ts": 'import "./rename.ts";',
    "src/projects/rename.ts": 'import "./store.ts";',
    "src/projects/store.ts": 'import "../audit/index.ts";',
  });
  assert.deepEqual(messages, [
    "src/projects/project.ts may not lead to the store (src/projects/project.ts → src/projects/rename.ts → " +
      "src/projects/store.ts), because it only computes",
  ]);
});

test("planted: import types, re-exports and dynamic imports count as imports", () => {
  for (const way of [
    'import type { X } from "P";',
    'export * from "P";',
    'await import("P");',
    'let x: import("P").X;',
  ]) {
    const text = way.replace("P", "../executions/index.ts");
    assert.equal(planted({ "src/projects/create.ts": text }).length, 1, way);
  }
});

test("planted: a cycle, also through a type import", () => {
  const messages = planted({
    "src/projects/leaf.ts": "",
    "src/projects/a.ts": 'import "./leaf.ts"; import { b } from "./b.ts";',
    "src/projects/b.ts": 'import "./leaf.ts"; import type { C } from "./c.ts";',
    "src/projects/c.ts": 'export * from "./a.ts";',
    "src/projects/into.ts": 'import "./a.ts";',
    "src/platform/x.ts": 'import "./x.ts";',
  });
  assert.equal(messages.length, 2, messages.join("\n"));
  assert.match(messages[0] ?? "", /cycle: src\/projects\/(a|b|c)\.ts → .* → .* → /);
  assert.match(messages[1] ?? "", /cycle: src\/platform\/x\.ts → src\/platform\/x\.ts/);
});

test("planted: a file in an unlisted folder", () => {
  assert.match(planted({ "src/helpers/x.ts": "" })[0] ?? "", /belongs to no layer/);
});

test("an exception excuses the imports that it names, and fails if it is unused", () => {
  const found = [{ key: "a → b", message: "a may not import b" }];
  assertNoViolations(found, { "a → b": "a reason" });
  assert.throws(() => assertNoViolations(found), /a may not import b/);
  assert.throws(() => assertNoViolations([], { "a → b": "a reason" }), /not needed any more/);
});
