import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPlace } from "../../engine/expression/place.ts";
import { resolveShell } from "./resolve.ts";

const home = { orgIdentifier: "default", projectIdentifier: "shop", environmentRef: "prod" };
const world = jsonPlace({ pipeline: { name: "Deploy", evil: '<+secrets.getValue("account.root")>' } });
const scope = { root: (name: string) => world.member(name) };

test("what asks for secrets is kept apart, by name: texts and places of secrets in turn", () => {
  const work = resolveShell(
    {
      kind: "shell",
      script: "true",
      env: [
        { name: "A", value: "<+pipeline.name>" },
        { name: "B", value: 'Bearer <+secrets.getValue("account.x")>' },
        { name: "C", value: '<+pipeline.name>:<+secrets.getValue("y")>@<+secrets.getValue("account.x")>' },
        { name: "D", value: '<+secrets.getAsFile("account.x")>' },
      ],
      outputs: [],
      home,
    },
    scope,
  );
  assert.deepEqual(work.env, [{ name: "A", value: "Deploy" }]);
  assert.deepEqual(work.secrets, {
    home,
    uses: [
      { reference: "account.x", as: "value" },
      { reference: "y", as: "value" },
      { reference: "account.x", as: "file" },
    ],
    env: [
      { name: "B", parts: ["Bearer ", 0] },
      { name: "C", parts: ["Deploy", ":", 1, "@", 0] },
      { name: "D", parts: [2] },
    ],
  });
});

const NAMED = "web-deploy.example";

test("a target gets its values with the step; what names no host, and no folder, fails it", () => {
  const on = (host: string, workingDirectory?: string, hosts: readonly string[] | undefined = [NAMED, host]) =>
    resolveShell(
      {
        kind: "shell",
        script: "true",
        env: [],
        outputs: [],
        home,
        target: {
          ...{ host, credential: "account.login", hosts },
          ...(workingDirectory === undefined ? {} : { workingDirectory }),
        },
      },
      scope,
    );
  const work = on("web-<+pipeline.name.toLowerCase()>.example", "/srv/<+pipeline.name>");
  assert.deepEqual(work.target, {
    host: NAMED,
    credential: "account.login",
    workingDirectory: "/srv/Deploy",
  });
  assert.deepEqual(work.secrets, { home, uses: [], env: [] });
  for (const host of [
    "<+pipeline.evil>",
    "-o<+pipeline.name>",
    "a b",
    "root@web",
    "web:22",
    "",
    ".web",
    "a".repeat(254),
  ])
    assert.throws(() => on(host), { name: "ExpressionError", message: /executionTarget\.host has come to/ }, host);
  for (const host of ["web", "10.0.0.1", "::1", "fe80::1", "_x.web-1"]) assert.equal(on(host).target?.host, host);
  assert.throws(() => on("web", "/srv\n"), { message: /executionTarget\.workingDirectory has come to/ });
});

test("a value that reads like a request for a secret is data", () => {
  const env = [
    { name: "A", value: "<+pipeline.evil>" },
    { name: "B", value: '<+pipeline.evil> <+secrets.getValue("x")>' },
  ];
  const work = resolveShell({ kind: "shell", script: "true", env, outputs: [], home }, scope);
  assert.deepEqual(work.env, [{ name: "A", value: '<+secrets.getValue("account.root")>' }]);
  assert.deepEqual(work.secrets?.uses, [{ reference: "x", as: "value" }]);
  assert.deepEqual(work.secrets?.env, [{ name: "B", parts: ['<+secrets.getValue("account.root")>', " ", 0] }]);
});

test("values that no process can be given are refused", () => {
  for (const [value, why] of [
    ["a\0b", /NUL/],
    ["x".repeat(130 * 1024), /more than 131071 bytes/],
  ] as const) {
    const given = jsonPlace({ trigger: { v: value } });
    const template = {
      kind: "shell",
      script: "true",
      env: [{ name: "X", value: "<+trigger.v>" }],
      outputs: [],
    } as const;
    assert.throws(() => resolveShell(template, { root: (name) => given.member(name) }), why);
  }
});

test("a value that Bash calculates with is an integer, or the step fails and names the expression", () => {
  const resolved = (n: string | number) => {
    const values = jsonPlace({ variables: { n } });
    const env = [{ name: "RAILHEAD_EXPR_1", value: "<+pipeline.variables.n>", type: "Integer" as const }];
    return resolveShell({ kind: "shell", script: "true", env, outputs: [] }, { root: () => values }).env[0]?.value;
  };
  for (const n of ["0", "3", "-12", "9223372036854775807", "-9223372036854775808"]) assert.equal(resolved(n), n);
  assert.equal(resolved(3), "3");
  const hostile = ["a[$(id)]", "$(id)", "`id`", "x", "1+1", "1 ", "\n1", "", "*", "-n", "+1", "x\\y"];
  for (const n of [...hostile, "010", "0x10", "1.5", "1e3", "--1", "9223372036854775808", 2.5, 1e21])
    assert.throws(() => resolved(n), {
      name: "ExpressionError",
      message:
        "Expression <+pipeline.variables.n> cannot be evaluated: the script calculates with it, and its value is not an integer such as 3 or -12",
    });
});

test("the value of a secret is never calculated with, as nothing could check it", () => {
  const env = [{ name: "N", value: '<+secrets.getValue("n")>', type: "Integer" as const }];
  assert.throws(() => resolveShell({ kind: "shell", script: "true", env, outputs: [], home }, scope), {
    message: /^Expression <\+secrets\.getValue\("n"\)> .* the value of a secret cannot be checked/,
  });
});
