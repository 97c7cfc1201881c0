/** Reading the log of a node by lines, whatever its bytes are and however they were cut into chunks. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { readViewer, uuidOf, type LogAnswer } from "../../../../test/support/written-logs.ts";
import { create, made, projectYaml } from "../../../../test/support/contract.ts";
import { createPipelines, detailOf, startRun } from "../../../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { appendLog } from "../../store/logs.ts";

let platform: TestPlatform;
/** An execution that no delegate takes, so that the test writes its log. */
let id: string;
let nodes: Readonly<Record<"a" | "b", string>>;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "two", steps: [{ id: "a" }, { id: "b" }] });
});
after(() => platform?.stop());

async function begin(): Promise<void> {
  id = await startRun(platform, "two");
  const { step } = await detailOf(platform, id);
  nodes = { a: step("a")["uuid"] as string, b: step("b")["uuid"] as string };
}

async function write(node: string, ...chunks: readonly (string | Buffer)[]): Promise<void> {
  for (const chunk of chunks) {
    const place = { executionId: uuidOf(id), nodeId: uuidOf(node), task: 1, at: platform.clock.now() };
    await platform.db.transaction((tx) => appendLog(tx, uuidOf(platform.accountId), place, Buffer.from(chunk)));
  }
}

/** A log as an older server has left it. */
const forgetCounts = async (): Promise<void> => {
  await platform.db.query("update log_chunks set node_lines = null");
  await platform.db.query("update log_streams set lines = 0, counted = 0, open_line = false");
};

const ask = (path: "lines" | "search" | "groups", query: object, node = nodes.a): Promise<LogAnswer> =>
  readViewer(platform, id, path, { nodeExecutionId: node, ...query });

async function linesOf(query: object): Promise<{ number: number; text: string; time: string | null }[]> {
  const { status, data, text } = await ask("lines", query);
  assert.equal(status, 200, text);
  return data.lines;
}
const textsOf = async (query: object): Promise<string[]> => (await linesOf(query)).map(({ text }) => text);

/** What the viewer shows of bytes, by the definition: line feeds end lines. */
function shownLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(0x0a, from);
    const line = bytes.subarray(from, feed === -1 ? bytes.length : feed);
    lines.push(line.toString("utf8").replace(/\r$/, ""));
    from = feed === -1 ? bytes.length : feed + 1;
  }
  return lines;
}

const someBytes = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        "a\n",
        "\n",
        "one two\r\n",
        "10%\r20%\r",
        "ä€😀\n",
        "--- x\n",
        "\u001b[31mred\u001b[0m\n",
      ),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
  )
  .map((text) => Buffer.from(text));
const hostileBytes = fc.oneof(
  someBytes,
  fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
);

test("any range of any log, however it is cut into chunks, also one that an older server has written", async () => {
  const property = fc.asyncProperty(
    fc.array(hostileBytes, { minLength: 1, maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 }),
    fc.integer({ min: 1, max: 30 }),
    fc.integer({ min: 1, max: 30 }),
    fc.boolean(),
    async (parts, sizes, from, limit, isOld) => {
      await begin();
      const bytes = Buffer.concat(parts);
      for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
        const size = sizes[nth % sizes.length] ?? 1;
        await write(nodes.a, bytes.subarray(at, at + size));
        at += size;
        if (nth % 3 === 0) await write(nodes.b, "of another node\n");
      }
      if (isOld) await forgetCounts();
      const lines = shownLines(bytes);
      const { data } = await ask("lines", { from, limit });
      assert.deepEqual([data.totalLines, data.endOffset, data.complete], [lines.length, bytes.length, false]);
      const expected = lines.slice(from - 1, from - 1 + limit).map((text, nth) => ({ number: from + nth, text }));
      assert.deepEqual(
        data.lines.map(({ number, text }: { number: number; text: string }) => ({ number, text })),
        expected,
      );
      assert.deepEqual(await textsOf({ last: limit }), lines.slice(-limit));
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

test("a line has the time of the chunk that it begins in; a character may be cut by the end of a chunk", async () => {
  await begin();
  const euro = Buffer.from("€");
  const first = new Date(platform.clock.now()).toISOString();
  await write(nodes.a, Buffer.concat([Buffer.from("one\ntw"), euro.subarray(0, 1)]));
  platform.clock.advance(5_000);
  await write(nodes.a, Buffer.concat([euro.subarray(1), Buffer.from("\nthree\n")]));
  assert.deepEqual(await linesOf({}), [
    { number: 1, time: first, text: "one" },
    { number: 2, time: first, text: "tw€" },
    { number: 3, time: new Date(platform.clock.now()).toISOString(), text: "three" },
  ]);
});

test("an empty log has no lines, and behind the end there are none", async () => {
  await begin();
  const empty = { lines: [], totalLines: 0, endOffset: 0, complete: false };
  assert.deepEqual((await ask("lines", {})).data, empty);
  assert.deepEqual((await ask("lines", { last: 5 })).data, empty);
  assert.deepEqual((await ask("search", { text: "x" })).data, {
    ...{ hits: [], next: 0, more: false, totalLines: 0, endOffset: 0, complete: false },
  });
  await write(nodes.a, "one\n");
  assert.deepEqual((await ask("lines", { from: 2 })).data, { ...empty, totalLines: 1, endOffset: 4 });
  assert.deepEqual((await ask("lines", { from: Number.MAX_SAFE_INTEGER })).data.lines, []);
});

test("the last line grows until the next one begins", async () => {
  await begin();
  await write(nodes.a, "one\ntw");
  assert.deepEqual(await textsOf({ last: 1 }), ["tw"]);
  await write(nodes.a, "o");
  assert.deepEqual([await textsOf({ last: 1 }), (await ask("lines", {})).data.totalLines], [["two"], 2]);
  await write(nodes.a, "\n");
  assert.equal((await ask("lines", {})).data.totalLines, 2);
});

test("a line of a megabyte is cut to 16 KiB, says where the rest is, and costs no read of what lies inside", async () => {
  await begin();
  const long = "é".repeat(512 * 1024);
  const bytes = Buffer.from(`first\n${long}\nlast\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, nth) =>
    bytes.subarray(nth * 65_536, (nth + 1) * 65_536),
  );
  await write(nodes.a, ...chunks);
  const [first, cut, last] = await linesOf({});
  assert.deepEqual([first?.text, last?.text], ["first", "last"]);
  assert.deepEqual(cut, {
    ...{ number: 2, time: cut?.time, text: "é".repeat(8 * 1024) },
    cut: { offset: 6, bytes: 1024 * 1024 },
  });
  // Line feeds in the chunks between its beginning and its end would show that these are read.
  await platform.db.query(
    "update log_chunks set data = decode(repeat('0a', 65536), 'hex') where node_position between 400000 and 900000",
  );
  assert.deepEqual(await linesOf({}), [first, cut, last]);
});

test("a long line of a progress bar shows its last state", async () => {
  await begin();
  const states = Array.from({ length: 30_000 }, (_, nth) => `\r${"#".repeat(nth % 50)} ${nth}`).join("");
  await write(
    nodes.a,
    states.slice(0, 60_000),
    states.slice(60_000, 120_000),
    `${states.slice(120_000, 180_000)}\r\n`,
    "next\r\n",
  );
  const [bar, next] = await linesOf({});
  assert.equal(bar?.text, `${states.slice(120_000, 180_000).split("\r").at(-1)}`);
  assert.equal(next?.text, "next");
});

test("a log whose chunks are just being deleted is read without an end", async () => {
  await begin();
  await write(nodes.a, ...Array.from({ length: 40 }, (_, nth) => `${nth}\n`));
  await platform.db.query("delete from log_chunks where node_position between 20 and 60");
  for (const [path, query] of [
    ["lines", { from: 20 }],
    ["lines", { last: 1 }],
    ["search", { text: "x" }],
  ] as const)
    assert.equal((await ask(path, query)).status, 200, path);
  await forgetCounts();
  await platform.db.query("delete from log_chunks");
  assert.deepEqual((await ask("lines", {})).data.lines, []);
});

test("an answer has at most about a megabyte of text, from the beginning and from the end", async () => {
  await begin();
  const line = `${"x".repeat(9_999)}\n`;
  for (let nth = 0; nth < 50; nth += 1) await write(nodes.a, line.repeat(6));
  const numbers = async (query: object): Promise<number[]> => (await linesOf(query)).map(({ number }) => number);
  const forwards = await numbers({ limit: 300 });
  assert.deepEqual([forwards[0], forwards.length], [1, Math.ceil((1024 * 1024) / 9_999)]);
  const backwards = await numbers({ last: 300 });
  assert.equal(backwards.at(-1), 300);
  assert.ok(backwards.length > 80 && backwards.length < 110, `${backwards.length} lines`);
});

test("a search finds lines in any case, once each, through escape sequences and cut characters", async () => {
  await begin();
  const text = [
    "no",
    "An ERROR and an error",
    "\u001b[31mer\u001b[1;4mror\u001b[0m",
    "x",
    "ÄRGER ÜBER",
    "\u001b]8;;http://error\u0007link\u001b]8;;\u0007",
  ];
  const bytes = Buffer.from(text.join("\n"));
  for (let at = 0; at < bytes.length; at += 7) await write(nodes.a, bytes.subarray(at, at + 7));
  const hits = async (query: object): Promise<number[]> => (await ask("search", query)).data.hits;
  assert.deepEqual(await hits({ text: "error" }), [2, 3]);
  assert.deepEqual(await hits({ text: "ERROR", caseSensitive: true }), [2]);
  assert.deepEqual(await hits({ text: "über" }), [5]);
  assert.deepEqual(await hits({ text: "e" }), [2, 3, 5]);
  assert.deepEqual(await hits({ text: "link" }), [6]);
  assert.deepEqual(await hits({ text: "a.*r" }), []);
});

test("a search comes in pages: each continues where the one before has ended", async () => {
  const property = fc.asyncProperty(
    fc.array(fc.constantFrom("hit", "miss", "", "hit hit"), { minLength: 1, maxLength: 60 }),
    fc.integer({ min: 1, max: 5 }),
    fc.boolean(),
    async (lines, limit, isOpen) => {
      await begin();
      await write(
        nodes.a,
        ...lines
          .map((line, nth) => `${line}${isOpen && nth === lines.length - 1 ? "" : "\n"}`)
          .filter((chunk) => chunk !== ""),
      );
      const found: number[] = [];
      let [from, more] = [0, true];
      while (more) {
        const { data } = await ask("search", { text: "HIT", limit, from });
        assert.ok(data.hits.length <= limit);
        found.push(...data.hits);
        [from, more] = [data.next, data.more];
      }
      assert.deepEqual(
        found,
        lines.flatMap((line, nth) => (line.includes("hit") ? [nth + 1] : [])),
      );
    },
  );
  await fc.assert(property, { numRuns: 30 });
});

test("a search of a growing log continues with the line that was open", async () => {
  await begin();
  await write(nodes.a, "one\ner");
  const first = (await ask("search", { text: "error" })).data;
  assert.deepEqual([first.hits, first.next, first.more], [[], 4, false]);
  await write(nodes.a, "ror\n");
  const second = (await ask("search", { text: "error", from: first.next })).data;
  assert.deepEqual([second.hits, second.next, second.more], [[2], 10, false]);
});

test("a search finds a text in a line of two megabytes once, also where two reads meet", async () => {
  const chunk = "x".repeat(65_536);
  // A read takes eight of these chunks. What the first one leaves is looked through whole with the second one.
  for (const meeting of [`${chunk.slice(3)}nee`, `${chunk.slice(6)}needle`]) {
    await begin();
    await write(nodes.a, "first\n", ...Array.from({ length: 15 }, () => chunk), meeting, `dle${chunk.slice(3)}`);
    await write(nodes.a, ...Array.from({ length: 14 }, () => chunk), "y\nneedle\n");
    assert.deepEqual((await ask("search", { text: "needle" })).data.hits, [2, 3]);
  }
});

test("a request looks through 64 MiB, and the next one through the rest", async () => {
  await begin();
  await write(nodes.a, `${"x".repeat(65_535)}\n`);
  // The same chunk again and again: writing them one by one would take long.
  await platform.db.query(
    `insert into log_chunks select account_id, execution_id, position + n * 65536, node_id, node_position + n * 65536, data, at, task, n
       from log_chunks, generate_series(1, 1199) n where execution_id = $1`,
    [uuidOf(id)],
  );
  await platform.db.query(
    "update log_streams set bytes = 1200 * 65536, counted = 1200 * 65536, lines = 1200 where execution_id = $1",
    [uuidOf(id)],
  );
  await write(nodes.a, "needle\n");
  const first = (await ask("search", { text: "needle" })).data;
  assert.deepEqual([first.hits, first.more, first.next], [[], true, 1024 * 65_536]);
  const second = (await ask("search", { text: "needle", from: first.next })).data;
  assert.deepEqual([second.hits, second.more, second.next], [[1_201], false, second.endOffset]);
});

test("groups are lines that begin with a marker", async () => {
  await begin();
  const lines = [
    "--- Build",
    "x --- y",
    "+++ \u001b[1mTests\u001b[0m  ",
    "~~~ Cache",
    "::group::Deploy",
    "out",
    "::endgroup::",
    "---x",
    "::groups::",
    `--- ${"t".repeat(300)}`,
  ];
  await write(nodes.a, `${lines.join("\n")}\n`);
  const expected = [
    { number: 1, marker: "---", title: "Build" },
    { number: 3, marker: "+++", title: "Tests" },
    { number: 4, marker: "~~~", title: "Cache" },
    { number: 5, marker: "::group::", title: "Deploy" },
    { number: 7, marker: "::endgroup::", title: "" },
    { number: 10, marker: "---", title: "t".repeat(256) },
  ];
  assert.deepEqual((await ask("groups", {})).data.groups, expected);
  const first = (await ask("groups", { limit: 2 })).data;
  assert.deepEqual([first.groups, first.more], [expected.slice(0, 2), true]);
  assert.deepEqual((await ask("groups", { from: first.next })).data.groups, expected.slice(2));
});

test("a part of a long line begins no group", async () => {
  await begin();
  const chunk = "--- ".repeat(16_384);
  await write(nodes.a, ...Array.from({ length: 20 }, () => chunk), "\n");
  const { groups } = (await ask("groups", {})).data;
  assert.deepEqual(
    groups.map(({ number }: { number: number }) => number),
    [1],
  );
});

test("what is no line, range or text is refused by name", async () => {
  for (const [path, query, name] of [
    ["lines", { from: 0 }, "from"],
    ["lines", { from: -1 }, "from"],
    ["lines", { from: "x" }, "from"],
    ["lines", { limit: 0 }, "limit"],
    ["lines", { limit: 5_001 }, "limit"],
    ["lines", { last: 5_001 }, "last"],
    ["lines", { last: 5, from: 1 }, "last"],
    ["search", {}, "text"],
    ["search", { text: "" }, "text"],
    ["search", { text: "a\nb" }, "text"],
    ["search", { text: "x".repeat(257) }, "text"],
    ["search", { text: "x", limit: 10_001 }, "limit"],
    ["search", { text: "x", from: -1 }, "from"],
    ["search", { text: "x", caseSensitive: "yes" }, "caseSensitive"],
    ["groups", { limit: 1_001 }, "limit"],
    ["lines", { attempt: "x" }, "attempt"],
  ] as const) {
    const { status, data } = await ask(path, query);
    assert.equal(status, 400, JSON.stringify(query));
    assert.match(data.message, new RegExp(`\\b${name}\\b`));
  }
  const unnamed = await readViewer(platform, id, "lines", {});
  assert.deepEqual([unnamed.status, /nodeExecutionId/.test(unnamed.text)], [400, true]);
  assert.equal((await ask("lines", { attempt: 2 })).status, 404);
  assert.equal((await ask("lines", {}, "AZMAAAAAcACAAAAAAAAAAA")).status, 404);
  // Of a node without output of its own.
  const { graph } = await detailOf(platform, id);
  assert.deepEqual((await ask("lines", {}, graph.rootNodeId)).data.lines, []);
});

test("lines are for those who may see the execution", async () => {
  const other = await platform.addAccount();
  await made(create.project(platform, projectYaml()));
  const elsewhere = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  for (const path of ["lines?", "search?text=x&", "groups?"]) {
    const url = `/pipeline/api/pipelines/execution/${id}/logs/${path}nodeExecutionId=${nodes.a}`;
    assert.equal((await platform.send("GET", url)).status, 200);
    assert.equal((await platform.send("GET", url, { account: other.accountId, apiKey: other.apiKey })).status, 404);
    assert.equal((await platform.send("GET", url, { apiKey: elsewhere })).status, 404);
    assert.equal((await platform.send("GET", url, { apiKey: null })).status, 401);
    assert.equal((await platform.send("GET", `${url}&orgIdentifier=default&projectIdentifier=other`)).status, 404);
  }
});
