/** Logs as JSON lines with times and steps, and the log service that finds them by prefix. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { create, made, projectYaml } from "../../../test/support/contract.ts";
import { detailOf, createPipelines, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { linesOf as partsOf } from "./lines.ts";
import { readLogPrefix } from "./prefix.ts";
import { appendLog } from "../store/logs.ts";

let platform: TestPlatform;
/** An execution that no delegate takes, so that the test writes its log. */
let id: string;
let nodes: Readonly<Record<"a" | "b", string>>;
let times: readonly string[];

const uuid = (wire: string): Uuid => {
  const known = fromWire(wire);
  assert.ok(known);
  return known;
};

async function write(node: string, data: string | Buffer): Promise<string> {
  const at = platform.clock.now();
  const place = { executionId: uuid(id), nodeId: uuid(node), task: 1, at };
  await platform.db.transaction((tx) => appendLog(tx, uuid(platform.accountId), place, Buffer.from(data)));
  platform.clock.advance(1_000);
  return new Date(at).toISOString();
}

const linesOf = ({ text }: Answer): unknown[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
const logs = (query: string): Promise<Answer> =>
  platform.send("GET", `/pipeline/api/pipelines/execution/${id}/logs?${query}`);

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "two", steps: [{ id: "a" }, { id: "b" }] });
  id = await startRun(platform, "two");
  const { step } = await detailOf(platform, id);
  nodes = { a: step("a")["uuid"] as string, b: step("b")["uuid"] as string };
  // Two steps at once: the line of `a` is cut by what `b` writes, and the letter by the end of a chunk.
  times = [
    await write(nodes.a, Buffer.from("one\nbegi\u00e9".slice(0)).subarray(0, -1)),
    await write(nodes.b, "other\n"),
    await write(nodes.a, Buffer.concat([Buffer.from([0xa9]), Buffer.from("n\n\nlast")])),
  ];
});
after(() => platform?.stop());

test("each line has the time of the chunk that it begins in, and its step; lines of two steps stay whole", async () => {
  const answer = await logs("format=json");
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  const line = (node: "a" | "b", time: string | undefined, out: string) => ({
    time,
    level: "INFO",
    step: `stage.${node}`,
    nodeExecutionId: nodes[node],
    out,
  });
  const expected = [
    line("a", times[0], "one"),
    line("b", times[1], "other"),
    line("a", times[0], "begi\u00e9n"),
    line("a", times[2], ""),
    line("a", times[2], "last"),
  ];
  assert.deepEqual(linesOf(answer), expected);
  assert.deepEqual(
    linesOf(await logs(`format=json&nodeExecutionId=${nodes.b}`)),
    linesOf(answer).filter((one) => (one as { nodeExecutionId: string }).nodeExecutionId === nodes.b),
  );
  assert.equal((await logs("format=yaml")).status, 400);
});

test("a chunk of an older server has no time, and a line beyond 64 KiB comes in parts", async () => {
  const place = { executionId: uuid(id), nodeId: uuid(nodes.b), task: 1, at: platform.clock.now() };
  const { length } = (await logs("format=text")).text;
  const long = "x".repeat(60_000);
  for (const part of [long, `${long}\n`])
    await platform.db.transaction((tx) => appendLog(tx, uuid(platform.accountId), place, Buffer.from(part)));
  await platform.db.query("update log_chunks set at = null where position >= $1", [length]);
  const found = linesOf(await logs(`format=json&nodeExecutionId=${nodes.b}`)) as { time: string | null; out: string }[];
  assert.deepEqual(
    found.slice(-2).map(({ time, out }) => [time, out.length]),
    [
      [null, 65_536],
      [null, 120_000 - 65_536],
    ],
  );
});

test("the JSON of a chunk of empty lines, 150 times as long, comes in parts", async () => {
  const chunk = { position: 0, nodeId: uuid(nodes.a), data: Buffer.alloc(65_536, "\n"), at: 0, lines: 0 };
  async function* chunks() {
    yield chunk;
  }
  const sizes: number[] = [];
  let lines = 0;
  for await (const part of partsOf(chunks(), async () => ({ step: null, path: [] }))) {
    sizes.push(part.length);
    lines += part.toString().split("\n").length - 1;
  }
  assert.equal(lines, 65_536);
  assert.ok(Math.max(...sizes) < 2 * 65_536, `${Math.max(...sizes)} bytes in one part`);
});

const account = (): string => `accountID=${platform.accountId}`;
const ask = (prefix: string, how: { apiKey?: string } = {}): Promise<Answer> =>
  platform.send("POST", `/gateway/log-service/blob/download?${account()}&prefix=${encodeURIComponent(prefix)}`, {
    account: null,
    ...how,
  });

test("the log service answers a link to the lines, for both forms of the prefix", async () => {
  const whole = linesOf(await logs("format=json"));
  const scope = `accountId:${platform.accountId}/orgId:default/projectId:p/pipelineId:two/runSequence:1`;
  for (const prefix of [`${platform.accountId}/pipeline/two/1/-${id}`, scope, `${scope}/level0:pipeline`]) {
    const { status, body } = await ask(prefix);
    assert.equal(status, 200, prefix);
    assert.equal(body.status, "success");
    assert.match(body.link, /^\/gateway\/log-service\//);
    assert.deepEqual(linesOf(await platform.send("GET", body.link, { account: null })), whole);
  }
  const { step } = await detailOf(platform, id);
  const levels = (step("b")["baseFqn"] as string).split(".").map((part, at) => `level${at}:${part}`);
  const { body } = await ask(`${scope}/${levels.join("/")}`);
  const narrowed = linesOf(await platform.send("GET", body.link, { account: null }));
  assert.ok(narrowed.length > 0);
  assert.ok(narrowed.every((one) => (one as { nodeExecutionId: string }).nodeExecutionId === nodes.b));
});

test("prefixes that name nothing, another account's and those of others' projects are refused", async () => {
  const other = await platform.addAccount();
  for (const [prefix, expected] of [
    ["x", 400],
    [`${platform.accountId}/pipeline/two/1/-x`, 400],
    [`${platform.accountId}/pipeline/two/1/-AAAAAAAAAAAAAAAAAAAAAA`, 404],
    [`${other.accountId}/pipeline/two/1/-${id}`, 404],
    [`accountId:${platform.accountId}/orgId:default/projectId:p/pipelineId:two/runSequence:9`, 404],
    [`accountId:${platform.accountId}/orgId:default/projectId:p/pipelineId:two/runSequence:99999999999`, 400],
  ] as const)
    assert.equal((await ask(prefix)).status, expected, prefix);
  await made(create.project(platform, projectYaml()));
  const elsewhere = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  assert.equal((await ask(`${platform.accountId}/pipeline/two/1/-${id}`, { apiKey: elsewhere })).status, 404);
  assert.equal(readLogPrefix("accountId:a/orgId:b/projectId:c/pipelineId:d/runSequence:1/level1:pipeline"), undefined);
});
