import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceOf, type AuditView } from "./difference.ts";
import { lineDiff } from "./line-diff.ts";

const changes = (before: AuditView | undefined, after: AuditView | undefined) => differenceOf(before, after)?.changes;

test("only changed fields are recorded, by their path", () => {
  const before = {
    name: "a",
    tags: { team: "x", gone: "y" },
    spec: { url: "u", auth: { type: "None" } },
    list: [1, 2],
  };
  const after = { name: "a", tags: { team: "z" }, spec: { url: "u", auth: { type: "Basic" } }, list: [2, 1] };
  assert.deepEqual(changes(before, after), [
    { field: "tags.team", before: "x", after: "z" },
    { field: "spec.auth.type", before: "None", after: "Basic" },
    { field: "list", before: [1, 2], after: [2, 1] },
    { field: "tags.gone", before: "y" },
  ]);
  assert.deepEqual(changes(before, before), []);
});

test("a created resource has no before, a deleted one no after; empty values are omitted", () => {
  const view = { name: "a", description: "", tags: {}, list: [], none: null, off: false };
  assert.deepEqual(changes(undefined, view), [
    { field: "name", after: "a" },
    { field: "off", after: false },
  ]);
  assert.deepEqual(changes(view, undefined), [
    { field: "name", before: "a" },
    { field: "off", before: false },
  ]);
  assert.equal(differenceOf(undefined, undefined), undefined);
});

test("a text of several lines is recorded by its changed lines", () => {
  const before = { yaml: "a: 1\nb: 2\nc: 3\nd: 4\n" };
  const after = { yaml: "a: 1\nb: 3\nc: 3\nd: 4\ne: 5\n" };
  assert.deepEqual(changes(before, after), [
    { field: "yaml", lines: ["@@ -2,1 +2,1 @@", "-b: 2", "+b: 3", "@@ -5,0 +5,1 @@", "+e: 5"] },
  ]);
  assert.deepEqual(lineDiff([], ["x"]), [{ before: { line: 1, count: 0 }, after: { line: 1, count: 1 } }]);
  const long = Array.from({ length: 2_000 }, (_, nth) => `line ${nth}`);
  const others = long.map((line) => `${line}!`);
  assert.deepEqual(lineDiff(long, others), [{ before: { line: 1, count: 2_000 }, after: { line: 1, count: 2_000 } }]);
});

test("values of sensitive names are masked at every depth", () => {
  const hidden = ["password", "API_KEY", "clientSecret", "sessionToken", "value", "private-key", "dbCredentials"];
  for (const name of hidden) {
    const views = [{ [name]: "hunter2" }, { spec: { auth: { [name]: "hunter2" } } }, { list: [{ [name]: "hunter2" }] }];
    for (const view of [...views, { [name]: ["hunter2"] }, { [name]: { deep: "hunter2" } }]) {
      const text = JSON.stringify([differenceOf(undefined, view), differenceOf(view, undefined)]);
      assert.ok(!text.includes("hunter2"), text);
      assert.ok(text.includes("***"), text);
    }
  }
  assert.deepEqual(changes({ passwordRef: "account.a" }, { passwordRef: "account.b" }), [
    { field: "passwordRef", before: "account.a", after: "account.b" },
  ]);
  assert.deepEqual(changes(undefined, { passwordRef: "p/ss:word!" }), [{ field: "passwordRef", after: "***" }]);
  assert.deepEqual(changes({ password: "one" }, { password: "two" }), [
    { field: "password", before: "***", after: "***" },
  ]);
});

test("values that look like a credential are masked under every name", () => {
  const id = "AbCdEfGhIjKlMnOpQrStUv";
  const pem = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----";
  const texts = [
    `pat.${id}.${id}.hunter2`,
    `x dlg.${id}.${id}.hunter2`,
    "https://me:hunter2@example.com/x",
    "Bearer eyJhbGciOiJI.eyJzdWIiOiIx.hunter2",
    pem,
    `key: |\n  ${pem.replaceAll("\n", "\n  ")}\nnext: 1`,
  ];
  for (const text of texts) {
    const kept = JSON.stringify(differenceOf(undefined, { note: text }));
    assert.ok(!kept.includes("hunter2"), kept);
  }
});

test("changed lines of a document show no value of a sensitive key, but show that it changed", () => {
  const yaml = (secret: string): string =>
    [
      "pipeline:",
      "  variables:",
      `    - { name: who, type: String, value: ${secret} }`,
      "    - name: other",
      `      value: ${secret}`,
      "      password: |",
      `        first`,
      `        ${secret}`,
      "      shown: yes",
      `      "token": "${secret}"`,
      "      input:",
      "        value: <+input>",
      "",
    ].join("\n");
  const [change] = changes({ yaml: yaml("hunter1") }, { yaml: yaml("hunter2") }) ?? [];
  const text = (change?.lines ?? []).join("\n");
  assert.doesNotMatch(text, /hunter/);
  assert.equal(text.match(/^[-+]/gm)?.length, 8, text);
  const made = changes(undefined, { yaml: yaml("hunter2") })?.[0]?.lines ?? [];
  assert.ok(made.includes("+      shown: yes") && made.includes("+        value: <+input>"), made.join("\n"));
  assert.doesNotMatch(made.join("\n"), /hunter|first/);
});

test("a difference is limited: long texts, long lists, many fields, many lines", () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [`f${nth}`, "x".repeat(900)]));
  const long = Array.from({ length: 5_000 }, (_, nth) => `${nth}`).join("\n");
  const views = [
    many,
    { text: "y".repeat(1_000_000) },
    { long },
    { list: Array.from({ length: 5_000 }, () => "z") },
    { deep: JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`) },
  ];
  for (const view of views) {
    const difference = differenceOf(undefined, view);
    assert.equal(difference?.cut, true);
    assert.ok(Buffer.byteLength(JSON.stringify(difference)) < 20_000);
  }
  assert.equal(differenceOf(undefined, { a: "short" })?.cut, undefined);
});
