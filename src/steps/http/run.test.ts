/** Http steps: what a delegate gets, and what its answer makes of the step. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpResult } from "../../../protocol/work/http.ts";
import { httpTask } from "../../../protocol/work/http.ts";
import { scopeOf } from "../../engine/expression/testing/sample-scope.ts";
import type { Json, StepAction, StepAttempt, StepNode } from "../../engine/index.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { http, type HttpSpec } from "./schema.ts";

const home = { orgIdentifier: "default", projectIdentifier: "shop", environmentRef: "prod" };
const asked = '<+secrets.getValue("account.token")>';

function attemptOf(spec: object, progress: Json = null): StepAttempt {
  const read: HttpSpec = http("merged").parse({ url: "https://api.example.com/", method: "GET", ...spec });
  const work = plan(read, { identifier: "call", home, hasCluster: false, withSecrets: (text) => text });
  const step = { timeoutMs: 60_000, selectors: ["office"], work } as unknown as StepNode;
  const scope = scopeOf({ pipeline: { name: "Shop" } });
  return { step, name: "Call", at: 0, number: 1, attempt: { progress } as StepAttempt["attempt"], scope: () => scope };
}

type RunTask = Extract<StepAction, { readonly kind: "runTask" }>;
const begun = (spec: object): RunTask => run.begin(attemptOf(spec)) as RunTask;

/** The end of a step with this answer. */
function ended(spec: object, result: HttpResult | object) {
  const { progress } = begun(spec);
  const action = run.receive(attemptOf(spec, progress), {
    kind: "taskEnded",
    outcome: { kind: "result", result: result as Json },
  });
  assert.equal(action.kind, "end");
  return action;
}

const response = (changes: object = {}): HttpResult => ({
  ...{
    kind: "response",
    status: 200,
    headers: [{ name: "x-a", value: "b" }],
    body: '{"state": "ready"}',
    durationMs: 5,
  },
  ...changes,
});

test("a delegate gets texts and places of secrets, and the work is the one that it reads", () => {
  const { work, selectors, progress } = begun({
    url: `https://api.example.com/<+pipeline.name>/<+spec.inputVariables.team>?key=${asked}`,
    method: "POST",
    headers: [{ key: "Authorization", value: `Bearer ${asked}` }],
    requestBody: `{"key": "${asked}", "other": "<+secrets.getValue("own")>"}`,
    inputVariables: [{ name: "team", type: "String", value: "<+pipeline.name>-team" }],
  });
  const secrets = {
    home,
    uses: [
      { reference: "account.token", as: "value" },
      { reference: "own", as: "value" },
    ],
  };
  assert.deepEqual(selectors, ["office"]);
  assert.deepEqual(work, {
    ...{ kind: "http", version: 1, method: "POST" },
    url: ["https://api.example.com/", "Shop", "/", "Shop-team", "?key=", 0],
    headers: [{ name: "Authorization", value: ["Bearer ", 0] }],
    body: ['{"key": "', 0, '", "other": "', 1, '"}'],
    timeoutMs: 60_000,
    secrets,
  });
  const uses = secrets.uses.map(({ reference, as }) => ({ label: reference, as }));
  assert.deepEqual(httpTask.safeParse({ ...work, secrets: { uses } }).error, undefined);
  assert.deepEqual(progress, {
    url: "https://api.example.com/Shop/Shop-team?key=**************",
    inputVariables: { team: "Shop-team" },
  });
});

test("a request does not last longer than a timer can", () => {
  const attempt = attemptOf({});
  const begun = run.begin({ ...attempt, step: { ...attempt.step, timeoutMs: 53 * 604_800_000 } }) as RunTask;
  assert.equal(begun.work["timeoutMs"], 86_400_000);
});

test("without an assertion any response passes, and its parts are outputs", () => {
  const { status, output, outputs, failure } = ended({}, response({ status: 500 }));
  assert.deepEqual([status, failure, outputs], ["succeeded", undefined, []]);
  assert.deepEqual(output, {
    ...{ httpUrl: "https://api.example.com/", httpMethod: "GET", httpResponseCode: 500 },
    ...{ httpResponseBody: '{"state": "ready"}', status: "SUCCESS", errorMsg: "" },
  });
  assert.equal(ended({}, response({ body: null })).output?.["httpResponseBody"], "");
});

test("the assertion and the output variables read the response and the input variables", () => {
  const spec = {
    assertion:
      '<+httpResponseCode> == 200 && <+json.select("state", httpResponseBody)> == <+spec.inputVariables.wanted>',
    inputVariables: [{ name: "wanted", type: "String", value: "ready" }],
    outputVariables: [
      { name: "state", type: "String", value: '<+json.select("state", httpResponseBody)>' },
      { name: "all", type: "String", value: '<+httpMethod> <+httpUrl> <+httpResponseHeaders.get("x-a")>' },
    ],
  };
  assert.deepEqual(ended(spec, response()).outputs, [
    { name: "state", value: "ready" },
    { name: "all", value: "GET https://api.example.com/ b" },
  ]);
  const { status, failure, output } = ended(spec, response({ status: 503 }));
  assert.equal(status, "failed");
  assert.deepEqual(failure?.types, ["ApplicationError"]);
  assert.match(
    failure?.message ?? "",
    /^Step 'Call' failed: the assertion '<\+httpResponseCode> == 200 .* status 503$/,
  );
  assert.deepEqual(
    [output?.["status"], output?.["httpResponseCode"], output?.["errorMsg"]],
    ["FAILURE", 503, failure?.message],
  );
});

test("what has no value fails the step, with what was answered", () => {
  const cases: readonly (readonly [object, object, RegExp])[] = [
    [{ assertion: "<+httpResponseCode>" }, {}, /httpResponseCode/],
    [{ assertion: '<+json.select("other", httpResponseBody)> == 1' }, {}, /other/],
    [{ assertion: '<+json.select("a", httpResponseBody)> == 1' }, { body: "no JSON" }, /JSON/],
    [{ outputVariables: [{ name: "a", type: "String", value: "<+httpResponseHeaders.b>" }] }, {}, /no 'b'/],
  ];
  for (const [spec, changes, message] of cases) {
    const { status, failure, output } = ended(spec, response(changes));
    assert.deepEqual([status, failure?.types], ["failed", ["ExpressionEvaluation"]]);
    assert.match(failure?.message ?? "", message);
    assert.equal(output?.["httpResponseCode"], 200);
  }
});

test("a request without a response fails with its reason", () => {
  const types = {
    invalid: "ConfigurationFailure",
    timeout: "Timeout",
    tls: "Connectivity",
    connection: "Connectivity",
  };
  for (const [reason, type] of Object.entries(types)) {
    const { failure, output } = ended({}, { kind: "failure", reason, message: "It is away.", durationMs: 1 });
    assert.deepEqual(failure, { message: "Step 'Call' failed: It is away.", types: [type] });
    assert.deepEqual(output, {
      ...{ httpUrl: "https://api.example.com/", httpMethod: "GET" },
      ...{ status: "FAILURE", errorMsg: failure?.message },
    });
  }
});

test("an answer that is no answer to a request fails the step", () => {
  for (const answer of [{}, { kind: "response" }, response({ status: "200" }), response({ body: "a\0b" })]) {
    const { failure } = ended({}, answer);
    assert.equal(failure?.message, "Step 'Call' failed: its delegate did not say how the request ended");
  }
});
