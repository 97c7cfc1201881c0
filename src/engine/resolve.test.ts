import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonPlace } from "./expression/place.ts";
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
