/** Http steps on a real delegate, with a server of the test. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Delegate } from "../../../delegate/delegate.ts";
import { createPlace } from "../../../delegate/testing/kit.ts";
import { addStepsPipeline } from "../../support/approvals.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { startRealDelegate } from "../../support/real-delegate.ts";
import { abortRun, createPipelines, detailOf, logOf, SCOPE, startRun, waitForEnd } from "../../support/runs.ts";
import { dumpOf } from "../../support/secrets.ts";

const EXAMPLE = new URL("../../../examples/steps/pipeline.yaml", import.meta.url);
const TOKEN = "t0ken-of-the-release-api";

type Received = Pick<IncomingMessage, "method" | "url" | "headers"> & { readonly body: string };

let platform: TestPlatform;
let delegate: Delegate;
let api: Server;
let address: string;
const place = createPlace();
const received: Received[] = [];
/** Waits until the server has a request. */
const arrival = Promise.withResolvers<void>();

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  delegate = await startRealDelegate(platform, place);
  api = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (url === "/never") return arrival.resolve();
      response.writeHead(url.startsWith("/releases") ? 201 : 500, { "content-type": "application/json" });
      response.end(JSON.stringify({ state: "open", ticket: { id: "REL-7" }, you: headers.authorization ?? "" }));
    });
  });
  await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const create = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
  const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name: "api_token", value: TOKEN } };
  const made = await platform.graphql(create, { input });
  assert.ok(made.body.data?.createSecret, made.text);
});

after(async () => {
  await delegate?.stop();
  await platform?.stop();
  api?.closeAllConnections();
  api?.close();
  place.remove();
});

test("the example sends a secret, checks the response, and hands on a part of it; the token is stored nowhere", async () => {
  const yaml = (await readFile(EXAMPLE, "utf8"))
    .replace("projectIdentifier: quickstart", "projectIdentifier: p")
    .replace("https://api.example.com", address)
    .replace("serviceRef: web_shop", "serviceRef: s")
    .replace("environmentRef: staging", "environmentRef: e");
  const made = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/yaml",
    body: yaml,
  });
  assert.equal(made.status, 200, made.text);
  const id = await startRun(platform, "step_types");
  assert.equal(await waitForEnd(platform, id), "SUCCESS", JSON.stringify(received));
  const [request] = received;
  assert.deepEqual([request?.method, request?.url], ["POST", "/releases?team=shop"]);
  assert.equal(request?.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(request?.body, '{"release": "1"}\n');
  const log = await logOf(platform, id);
  assert.match(log, /^> POST .*\/releases\?team=shop, 17 bytes, headers Authorization, Content-Type$/m);
  assert.match(log, /^release ticket REL-7\nanswered with 201$/m);
  const halves = log.trim().split("\n").slice(-4);
  assert.deepEqual(halves.slice(0, 2).toSorted(), ["Web prepared", "Workers prepared"]);
  assert.deepEqual(halves.slice(2).toSorted(), ["Web switched", "Workers switched"]);
  const { output } = (await detailOf(platform, id)).step("announce")["outcomes"];
  assert.deepEqual(output.outputVariables, { ticket: "REL-7" });
  assert.equal(JSON.parse(output.httpResponseBody).you, "Bearer **************");
  for (const text of [log, await dumpOf(platform)]) assert.equal(text.includes(TOKEN), false);
});

const http = (spec: object): object => ({
  step: { type: "Http", name: "call", identifier: "call", timeout: "1m", spec: { method: "GET", ...spec } },
});

/** Runs one Http step; returns its failure. */
async function failureOf(id: string, spec: object) {
  await addStepsPipeline(platform, { id }, [http(spec)]);
  const run = await startRun(platform, `run_${id}`);
  assert.equal(await waitForEnd(platform, run), "FAILED");
  const { message, failureTypeList } = (await detailOf(platform, run)).step("call")["failureInfo"];
  return { message, types: failureTypeList };
}

test("a false assertion, and a server that is away, fail the step with their types", async () => {
  assert.deepEqual(await failureOf("asserts", { url: `${address}/other`, assertion: "<+httpResponseCode> < 400" }), {
    message: "Step 'call' failed: the assertion '<+httpResponseCode> < 400' is false for a response with status 500",
    types: ["ApplicationError"],
  });
  const { message, types } = await failureOf("unreached", { url: "http://127.0.0.1:1/" });
  assert.deepEqual(types, ["Connectivity"]);
  assert.match(message, /^Step 'call' failed: .*127\.0\.0\.1:1/);
});

test("an abort ends the request", async () => {
  await addStepsPipeline(platform, { id: "endless" }, [http({ url: `${address}/never` })]);
  const id = await startRun(platform, "run_endless");
  await arrival.promise;
  await abortRun(platform, id);
  assert.equal(await waitForEnd(platform, id), "ABORTED");
  assert.equal((await detailOf(platform, id)).step("call")["status"], "Aborted");
});
