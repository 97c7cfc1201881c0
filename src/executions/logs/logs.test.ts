/** The log of an execution and those of its nodes: positions, and reading any part of them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { fromWire, type Uuid } from "../../core/ids.ts";
import { detailOf, createPipelines, logOf, startRun } from "../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { appendLog, readBinary, readLog, readNodeLog, readPrepared } from "../store/logs.ts";

let platform: TestPlatform;
/** An execution that no delegate takes, so that the test writes its log. */
let id: string;
let nodes: readonly string[];

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "three", steps: [{ id: "a" }, { id: "b" }, { id: "c" }] });
});
after(() => platform?.stop());

async function begin(): Promise<void> {
  id = await startRun(platform, "three");
  const { step } = await detailOf(platform, id);
  nodes = ["a", "b", "c"].map((name) => step(name)["uuid"] as string);
}

const uuid = (wire: string): Uuid => {
  const known = fromWire(wire);
  assert.ok(known);
  return known;
};

const placeOf = (node: string) => ({ executionId: uuid(id), nodeId: uuid(node), task: 1, at: platform.clock.now() });

/** One writer's chunks, each in a transaction of its own; they compete with the other writers for their place. */
async function write(node: string, chunks: readonly (string | Buffer)[]): Promise<void> {
  for (const chunk of chunks)
    await platform.db.transaction((tx) => appendLog(tx, uuid(platform.accountId), placeOf(node), Buffer.from(chunk)));
}

/** Opens connections at once, so that no writer is done before another one has its own. */
async function openConnections(count: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const hold = (): Promise<void> =>
    platform.db.transaction(async (tx) => {
      await tx.query("select 1");
      begun += 1;
      if (begun === count) all.resolve();
      await all.promise;
    });
  await Promise.all(Array.from({ length: count }, hold));
}

test("writers at the same time leave no gap and no overlap, in the whole log and in each node's", async () => {
  await begin();
  const texts = nodes.map((_, writer) =>
    Array.from({ length: 40 }, (__, at) => `${writer}:${at}${"x".repeat((at * 7) % 23)}\n`),
  );
  await openConnections(nodes.length);
  await Promise.all(nodes.map((node, writer) => write(node, texts[writer] ?? [])));
  const rows = await platform.db.query<{ position: string; node_position: string; node_id: string; length: number }>(
    "select position, node_position, node_id, length(data) from log_chunks order by position",
  );
  assert.equal(rows.length, 120);
  let whole = 0;
  const each = new Map<string, number>();
  for (const row of rows) {
    assert.equal(Number(row.position), whole);
    assert.equal(Number(row.node_position), each.get(row.node_id) ?? 0);
    whole += row.length;
    each.set(row.node_id, (each.get(row.node_id) ?? 0) + row.length);
  }
  for (const [writer, node] of nodes.entries())
    assert.equal(await logOf(platform, id, `?nodeExecutionId=${node}`), texts[writer]?.join(""));
  const lines = (await logOf(platform, id)).split("\n").slice(0, -1);
  assert.equal(lines.length, 120);
  assert.ok(
    new Set(lines.slice(0, 40).map((line) => line[0])).size > 1,
    "the writers did not interleave: nothing was shown",
  );
});

test("a chunk that is rolled back leaves no hole", async () => {
  await begin();
  const [node = ""] = nodes;
  await write(node, ["one\n"]);
  const failing = platform.db.transaction(async (tx) => {
    await appendLog(tx, uuid(platform.accountId), placeOf(node), Buffer.from("never\n"));
    throw new Error("planted");
  });
  await assert.rejects(failing, /planted/);
  await write(node, ["two\n"]);
  assert.equal(await logOf(platform, id), "one\ntwo\n");
});

test("any part of a log can be downloaded", async () => {
  await begin();
  const [a = "", b = ""] = nodes;
  const parts: [string, string][] = Array.from({ length: 30 }, (_, at) => [
    at % 3 === 0 ? b : a,
    `${at}${"ä€😀".repeat(at % 4)}\n`,
  ]);
  for (const [node, text] of parts) await write(node, [text]);
  const bytesOf = (of?: string): Buffer =>
    Buffer.from(
      parts
        .filter(([node]) => of === undefined || node === of)
        .map(([, text]) => text)
        .join(""),
    );
  const property = fc.asyncProperty(
    fc.constantFrom(undefined, a, b),
    fc.nat(500),
    fc.option(fc.nat(500)),
    async (of, from, limit) => {
      const query = new URLSearchParams({
        from: String(from),
        ...(limit === null ? {} : { limit: String(limit) }),
        ...(of === undefined ? {} : { nodeExecutionId: of }),
      });
      const url = `${platform.url}/pipeline/api/pipelines/execution/${id}/logs?accountIdentifier=${platform.accountId}&${query.toString()}`;
      const response = await fetch(url, { headers: { "x-api-key": platform.apiKey } });
      const got = Buffer.from(await response.arrayBuffer());
      assert.equal(response.status, 200);
      assert.deepEqual(got, bytesOf(of).subarray(from, limit === null ? undefined : from + limit));
    },
  );
  await fc.assert(property, { numRuns: 80 });
});

test("a log of many pages comes whole, and from any byte of its largest chunks", async () => {
  await begin();
  const [a = ""] = nodes;
  const chunks = Array.from({ length: 70 }, (_, at) => Buffer.alloc(at % 10 === 0 ? 65_536 : 100, String(at % 10)));
  await write(a, chunks);
  const whole = Buffer.concat(chunks).toString();
  assert.equal(await logOf(platform, id), whole);
  for (const from of [1, 65_535, 65_536, 65_537, 65_636, whole.length - 1, whole.length])
    assert.equal(await logOf(platform, id, `?from=${from}`), whole.slice(from), `from ${from}`);
});

test("one read of a log takes five large chunks at most, because a download keeps them", async () => {
  await begin();
  const [node = ""] = nodes;
  await write(
    node,
    Array.from({ length: 12 }, () => Buffer.alloc(65_536, "a")),
  );
  const account = uuid(platform.accountId);
  const part = { nodeId: uuid(node), begin: 0, lastTask: 1 };
  for (const read of [readPrepared(platform.db), readBinary(platform.db)])
    for (const chunks of [
      (from: number) => readLog(read, account, uuid(id), from),
      (from: number) => readNodeLog(read, account, uuid(id), part, from),
    ]) {
      assert.equal((await chunks(0)).length, 4);
      assert.equal((await chunks(1)).length, 5);
    }
  const [prepared, binary] = [readPrepared(platform.db), readBinary(platform.db)];
  assert.deepEqual(await readLog(binary, account, uuid(id), 1), await readLog(prepared, account, uuid(id), 1));
});

test("past the end there is nothing, however far; what is no offset is refused", async () => {
  for (const from of [10 ** 6, 2 ** 31, 2 ** 32, 10 ** 15 - 1]) {
    const answer = await platform.send("GET", `/pipeline/api/pipelines/execution/${id}/logs?from=${from}`);
    assert.deepEqual([answer.status, answer.text], [200, ""], String(from));
    const node = await platform.send(
      "GET",
      `/pipeline/api/pipelines/execution/${id}/logs?from=${from}&nodeExecutionId=${nodes[0]}`,
    );
    assert.deepEqual([node.status, node.text], [200, ""], String(from));
  }
  assert.equal(await logOf(platform, id, "?limit=0"), "");
  for (const query of [
    "from=-1",
    "from=1.5",
    "from=x",
    "from=1e3",
    "from=%00",
    "from=",
    "limit=-1",
    "from=1&from=2",
    `from=${10 ** 16}`,
  ]) {
    const answer = await platform.send("GET", `/pipeline/api/pipelines/execution/${id}/logs?${query}`);
    assert.equal(answer.status, 400, query);
  }
});

test("a log is for those who may see its execution", async () => {
  const other = await platform.addAccount();
  for (const suffix of ["", "/stream"]) {
    const path = `/pipeline/api/pipelines/execution/${id}/logs${suffix}`;
    const foreign = await platform.send("GET", path, { account: other.accountId, apiKey: other.apiKey });
    assert.equal(foreign.status, 404);
    assert.equal((await platform.send("GET", path, { apiKey: null })).status, 401);
    assert.equal((await platform.send("GET", `${path}?projectIdentifier=other&orgIdentifier=default`)).status, 404);
    assert.equal((await platform.send("GET", `${path}?nodeExecutionId=AZMAAAAAcACAAAAAAAAAAA`)).status, 404);
    assert.equal((await platform.send("GET", `${path}?nodeExecutionId=..%2F..`)).status, 404);
  }
});
