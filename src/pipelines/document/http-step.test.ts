/** What saving takes and refuses of Http steps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, STEP_SPEC, withStep } from "./sample.ts";

const http = (...more: readonly string[]): string =>
  withStep("Http", ["url: https://api.example.com/health", "method: GET", ...more]);
const asked = '<+secrets.getValue("account.x")>';

const TAKEN: readonly string[] = [
  http(),
  http("headers: []", "requestBody: ''", "assertion:", "inputVariables:", "outputVariables: []"),
  withStep("Http", ["url: <+pipeline.name>/health", "method: <+input>.default(GET)"]),
  withStep("Http", ["url: <+input>", "method: <+input>.allowedValues(GET,PUT)"]),
  withStep("Http", [`url: 'https://api.example.com/<+spec.inputVariables.team>?key=${asked}'`, "method: PATCH"]),
  http(`headers: [{key: Authorization, value: 'Bearer ${asked}'}, {key: X-Team, value: <+pipeline.name>}]`),
  http(`requestBody: '{"password": "${asked}"}'`, "delegateSelectors: [office]"),
  http('assertion: <+httpResponseCode> == 200 && <+json.select("ok", httpResponseBody)> == true'),
  http(
    'assertion: <+httpResponseHeaders.get("content-type")> == "a"',
    "inputVariables: [{name: a, type: String, value: 3}]",
  ),
  http("outputVariables: [{name: a, type: String, value: '<+json.select(\"a\", httpResponseBody)>'}]"),
  http("outputVariables: [{name: a, type: String, value: <+spec.inputVariables.a> <+httpUrl> <+httpMethod>}]"),
];

for (const text of TAKEN)
  test(`taken: ${text.split("\n").slice(32, 37).join(" ").replaceAll(/ +/g, " ").slice(0, 160)}`, () =>
    assert.deepEqual(faultsOf(text), []));

const header = (fields: string): string => http(`headers: [${fields}]`);
const output = (fields: string): string => http(`outputVariables: [${fields}]`);

const REFUSED: readonly (readonly [text: string, path: string, message: RegExp])[] = [
  [withStep("Http", ["url: ftp://x", "method: GET"]), ".url", /^Expected an http or https URL/],
  [withStep("Http", ["url: ''", "method: GET"]), ".url", /http or https URL/],
  [withStep("Http", ["url: https://a:b@x", "method: GET"]), ".url", /no user name and no password/],
  [
    withStep("Http", [`url: https://x/<+secrets.getAsFile("account.x")>`, "method: GET"]),
    ".url",
    /a request has no files/,
  ],
  [
    withStep("Http", ["url: https://x/<+httpResponseCode>", "method: GET"]),
    ".url",
    /has a value only in the assertion/,
  ],
  [withStep("Http", ["url: https://x", "method: TRACE"]), ".method", /Unknown value 'TRACE'. Allowed: DELETE, GET/],
  [withStep("Http", ["url: https://x"]), ".method", /./],
  [header("{key: a b, value: x}"), ".headers[0].key", /^The name of a header/],
  [header("{key: Content-Length, value: x}"), ".headers[0].key", /is set by the delegate/],
  [header("{key: A, value: x}, {key: a, value: y}"), ".headers[1].key", /given twice/],
  [header("{key: A, value: x, type: String}"), ".headers[0].type", /type/],
  [header("{key: A, value: <+nonsense.x>}"), ".headers[0].value", /nonsense/],
  [http("assertion: <+httpResponseCode> =="), ".assertion", /./],
  [http("assertion: <+responseCode> == 200"), ".assertion", /there is no 'responseCode'/],
  [http(`assertion: <+httpResponseBody> == ${asked}`), ".assertion", /a secret stands alone/],
  [http("inputVariables: [{name: a, type: Secret, value: account.x}]"), ".inputVariables[0].type", /not supported yet/],
  [http(`inputVariables: [{name: a, type: String, value: '${asked}'}]`), ".inputVariables[0].value", /secret/],
  [
    http("inputVariables: [{name: a, type: String, value: <+spec.a>}]"),
    ".inputVariables[0].value",
    /only in an Http step/,
  ],
  [output("{name: a, type: Secret, value: x}"), ".outputVariables[0].type", /not supported yet/],
  [output("{name: a, type: String, value: x}, {name: a, type: String, value: y}"), ".outputVariables[1].name", /twice/],
  [output(`{name: a, type: String, value: '${asked}'}`), ".outputVariables[0].value", /secret/],
  [output("{name: a, type: String, value: <+httpResponseCode.x>}"), ".outputVariables[0].value", /is a number/],
  [http("certificate: x"), ".certificate", /certificate/],
];

for (const [text, path, message] of REFUSED)
  test(`refused: ${path}: ${message.source.slice(0, 60)}`, () => {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, JSON.stringify(faults));
    const [fault] = faults;
    assert.equal(fault?.path, `${STEP_SPEC}${path}`);
    assert.match(fault?.message ?? "", message);
    const [line = 0] = (fault?.at ?? "").split(":").map(Number);
    assert.ok(line > 29 && line < 45, fault?.at);
  });

test("the response has a value in no other step", () => {
  const script = withStep("ShellScript", [
    "shell: Bash",
    "source: {type: Inline, spec: {script: echo <+httpResponseCode>}}",
  ]);
  assert.match(faultsOf(script)[0]?.message ?? "", /'httpResponseCode' has a value only in the assertion/);
});
