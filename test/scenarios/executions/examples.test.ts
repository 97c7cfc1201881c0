/** Examples that reach other systems, loaded as a user does and run on a real delegate: a cluster, HTTP services, a clock. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDelegate, type Delegate } from "../../../delegate/delegate.ts";
import { createPlace, QUICK, settingsFor, silentLog } from "../../../delegate/testing/kit.ts";
import { systemTimers } from "../../../delegate/timers.ts";
import { listExamples, loadExample } from "../../../scripts/example/load.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { kubectlIsMissing } from "../../support/services/kubectl.ts";
import { startTestCluster, TOKEN, type TestCluster } from "../../support/services/kubernetes-api.ts";
import { detailOf, logOf, waitForEnd } from "../../support/runs.ts";
import { until } from "../../support/until.ts";

const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";
const needsKubectl = { skip: (await kubectlIsMissing()) ?? false };

/** Examples with secrets, which are created by hand first. */
const NEEDS: Readonly<Record<string, RegExp>> = {
  secrets: /examples\/secrets\/pipeline.yaml: .*No secret 'account.api_token' exists/,
  steps: /examples\/steps\/pipeline.yaml: .*No secret 'account.api_token' exists/,
};

let platform: TestPlatform;
let cluster: TestCluster;
let delegate: Delegate;
const place = createPlace();
const servers: Server[] = [];

before(async () => {
  [platform, cluster] = await Promise.all([startTestPlatform(), startTestCluster()]);
  const socketUrl = `${platform.url.replace("http", "ws")}/delegate/connect`;
  const credential = { kind: "token", token: TOKEN } as const;
  const ownCluster = () => ({ server: cluster.url, ca: cluster.files.ca, credential });
  delegate = await startDelegate(
    { ...settingsFor({ socketUrl }, place), token: await platform.delegateToken(), name: "local", tags: ["local"] },
    { ...QUICK, timers: systemTimers, chance: Math.random, log: silentLog(), ownCluster },
  );
});
after(async () => {
  await delegate?.stop();
  for (const server of servers) server.close();
  await Promise.all([platform?.stop(), cluster?.stop()]);
  place.remove();
});

const load = async (name: string): Promise<readonly string[]> => {
  const { url: baseUrl, accountId, apiKey } = platform;
  const loaded = await loadExample({ baseUrl, accountId, apiKey }, name);
  return loaded.map(({ result, file }) => `${result} ${file}`);
};

async function start(pipeline: string, inputs: Readonly<Record<string, string | number>> = {}): Promise<string> {
  const variables = Object.entries(inputs).map(([name, value]) => ({
    ...{ name, type: typeof value === "number" ? "Number" : "String", value },
  }));
  const answer = await platform.send("POST", `/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`, {
    contentType: "application/json",
    body: JSON.stringify(variables.length > 0 ? { pipeline: { identifier: pipeline, variables } } : {}),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.planExecution.uuid;
}

/** Serves these answers by method and path; each call of one is given its number, from 1. */
type Answers = Readonly<Record<string, (call: number, body: string) => readonly [status: number, text: string]>>;
async function serve(answers: Answers): Promise<string> {
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    void Array.fromAsync(request).then((chunks) => {
      const key = `${request.method} ${request.url}`;
      const call = (calls.get(key) ?? 0) + 1;
      calls.set(key, call);
      const [status, text] = answers[key]?.(call, Buffer.concat(chunks).toString()) ?? [404, "not found"];
      response.writeHead(status).end(text);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("every example can be loaded, and loaded again", async () => {
  for (const name of await listExamples()) {
    const pipeline = async (): Promise<string | undefined> => {
      const results = await load(name).catch((error: unknown) => [String(error)]);
      return results.find((line) => line.endsWith("/pipeline.yaml")) ?? results.join();
    };
    const missing = NEEDS[name];
    if (missing) assert.match((await pipeline()) ?? "", missing);
    else
      assert.deepEqual(
        [await pipeline(), await pipeline()],
        [`created ${name}/pipeline.yaml`, `updated ${name}/pipeline.yaml`],
      );
  }
  await assert.rejects(load("nothing"), /There is no example 'nothing'. Examples: .*kubernetes/);
});

test("npm run example finds the server by its data directory", async () => {
  const folder = await mkdtemp(join(tmpdir(), "railhead-example-"));
  const run = async (...args: readonly string[]) => {
    const env = { ...process.env, RAILHEAD_DATA_DIR: folder };
    const program = fileURLToPath(new URL("../../../scripts/example.ts", import.meta.url));
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { code: code as number, stdout, stderr };
  };
  const none = await run("matrix");
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.match(none.stderr, /^There is no .*bootstrap\.json\. Start the server first/);
  const { url: baseUrl, accountId, apiKey } = platform;
  await writeFile(join(folder, "bootstrap.json"), JSON.stringify({ baseUrl, accountId, apiKey }));
  const loaded = await run("matrix");
  assert.equal(loaded.code, 0, loaded.stderr);
  assert.match(loaded.stdout, /^(created|updated) +test_matrix +examples\/matrix\/pipeline\.yaml$/m);
  assert.match((await run()).stdout, /^matrix$/m);
  await rm(folder, { recursive: true });
});

test("README.md has a row for each example", async () => {
  const readme = await readFile(new URL("../../../examples/README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| \[([\w-]+)\]\(\1\) \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, await listExamples());
});

test("kubernetes: the manifest is applied as it is written, and the pods are waited for", needsKubectl, async () => {
  await load("kubernetes");
  const id = await start("roll_out_in_kubernetes", { version: "1.4.2", replicas: 3, pause: 0 });
  assert.equal(await waitForEnd(platform, id), "SUCCESS", await logOf(platform, id));
  const { metadata, spec } = cluster.deployments.get("web/web") ?? assert.fail();
  assert.match(metadata.labels["release"] ?? "", /^release-[0-9a-f]{6}$/);
  const [container] = spec.template.spec.containers;
  assert.deepEqual([spec.replicas, container.image], [3, "registry.example.com/web:1.4.2"]);
  assert.deepEqual(container.command, ["sh", "-c", "exec serve --name $HOSTNAME"]);
  const lines = ["deployment.apps/web created", ...[0, 1, 2, 3].map((n) => `ready: ${n} of 3`)];
  assert.equal(await logOf(platform, id), `${lines.join("\n")}\n`);
});

test("blue-green: the router switches to the healthy version, and back from a wrong one", async () => {
  await load("blue-green");
  let target = "http://blue.example.com";
  const put = (_: number, body: string) => {
    target = (JSON.parse(body) as { target: string }).target;
    return [200, "ok\n"] as const;
  };
  const candidate = await serve({ "GET /health": (call) => (call < 3 ? [503, "starting"] : [200, "healthy\n"]) });
  const router = await serve({
    "GET /target": () => [200, target],
    "PUT /target": put,
    "GET /version": () => [200, target === candidate ? "2.0.0" : "1.0.0"],
  });
  const run = async (inputs: Readonly<Record<string, string | number>>) => {
    const id = await start("blue_green", { candidate, router, tries: 5, pause: 0, ...inputs });
    return [await waitForEnd(platform, id), target, await logOf(platform, id)] as const;
  };
  const switched = await run({ version: "2.0.0" });
  assert.deepEqual(switched.slice(0, 2), ["SUCCESS", candidate], switched[2]);
  assert.match(switched[2], /healthy\nok\nswitched from http:\/\/blue\.example\.com\n$/);

  target = "http://blue.example.com";
  const wrong = await run({ version: "2.0.1" });
  assert.deepEqual(wrong.slice(0, 2), ["FAILED", "http://blue.example.com"], wrong[2]);
  assert.match(wrong[2], /users see 2\.0\.0 instead of 2\.0\.1\nok\n$/);

  const dead = await serve({ "GET /health": () => [503, "broken"] });
  const unhealthy = await run({ version: "2.0.0", candidate: dead, tries: 2 });
  assert.deepEqual(unhealthy.slice(0, 2), ["FAILED", "http://blue.example.com"], unhealthy[2]);
  assert.match(unhealthy[2], /not healthy after 2 tries\n$/);
});

test("matrix: five of six combinations run, and a later step reads one of them", async () => {
  await load("matrix");
  const id = await start("test_matrix");
  assert.equal(await waitForEnd(platform, id), "SUCCESS", await logOf(platform, id));
  const lines = (await logOf(platform, id)).trim().split("\n");
  const wanted = ["22 on glibc", "24 on glibc", "24 on musl", "26 on glibc", "26 on musl"];
  assert.deepEqual(
    lines.slice(0, -1).toSorted(),
    wanted.map((pair) => `testing ${pair}, 5 in all`),
  );
  assert.equal(lines.at(-1), "the last was node:26-musl");
});

/** Lets ten seconds pass each time when the step waits for its retry. */
async function passRetries(id: string, retries: number): Promise<void> {
  for (let n = 1; n <= retries; n += 1) {
    await until(
      async () => (await detailOf(platform, id)).step("smoke_test"),
      (step) => step?.["status"] === "TimedWaiting" && (step["earlierAttempts"]?.length ?? 0) >= n - 1,
    );
    platform.clock.advance(10_000);
    await platform.platform.sweep();
  }
}

test("release: a smoke test that fails twice passes, one that fails four times rolls back", async () => {
  await load("release");
  const flaky = await serve({ "GET /health": (call) => (call < 3 ? [503, "starting"] : [200, "healthy\n"]) });
  const id = await start("release_with_a_smoke_test", { version: "1.4.2", url: flaky });
  await passRetries(id, 2);
  assert.equal(await waitForEnd(platform, id), "SUCCESS", await logOf(platform, id));
  const log = await logOf(platform, id);
  assert.match(log, /^(unit|integration) tests of 1\.4\.2\n(unit|integration) tests of 1\.4\.2\ndeploying 1\.4\.2\n/);
  assert.match(log, /healthy\n$/);

  const broken = await serve({ "GET /health": () => [503, "broken"] });
  const failed = await start("release_with_a_smoke_test", { version: "1.4.3", url: broken });
  await passRetries(failed, 3);
  assert.equal(await waitForEnd(platform, failed), "FAILED");
  const end = await logOf(platform, failed);
  assert.equal(end.match(/error: 503/g)?.length, 4, end);
  assert.match(end, /back to the version before 1\.4\.3\n$/);
});
